// Paraffin contract verification.
// Written from the declarations: docs/clients.md says how.

/** Parameters and answer of each, by its name. */
export interface Routes {
  /** States the source of a module; needs an admin key. */
  "POST /attest": { params: { "alkanes_rev"?: string | null; "block"?: string | null; "commit"?: string | null; "manifest"?: Record<string, unknown> | null; "match_pct"?: number | null; "note"?: string | null; "repo_url": string; "rustc"?: string | null; "subdir"?: string | null; "tx"?: string | null; "verdict"?: string | null; "wasm_sha256"?: string | null }; answer: Attestation };
  /** The record of a contract's source. */
  "GET /source/{block}/{tx}": { params: { "block": string; "tx": string }; answer: ReadSourceBlockTxAnswer };
  /** One file of a contract's source. */
  "GET /source/{block}/{tx}/blob": { params: { "block": string; "tx": string; "path": string; "raw"?: string | null }; answer: ReadSourceBlockTxBlobAnswer };
  /** The files of a contract's source. */
  "GET /source/{block}/{tx}/tree": { params: { "block": string; "tx": string }; answer: ReadSourceBlockTxTreeAnswer };
  /** The compilers of this instance. */
  "GET /verify": { params: Record<string, never>; answer: ReadVerifyAnswer };
  /** Submits a contract's source for verification.
   *
   * Dependencies come with the source. Fields that name them are recorded with the run and have no effect on the build. */
  "POST /verify": { params: { "alkane": string; "alkanes_rev"?: string | null; "build_env"?: VerifyBuildEnv | null; "clang_version"?: string | null; "commit"?: string | null; "freeze_commit"?: string | null; "git_date"?: string | null; "git_pins"?: string | null; "git_source_form"?: string | null; "git_url"?: string | null; "home_dir"?: string | null; "inline_src_b64"?: string | null; "package"?: string | null; "repo_url": string; "rustc"?: string | null; "subdir"?: string | null; "typo_fix"?: boolean | null }; answer: RunStart };
  /** State and result of a run. */
  "GET /verify/{run_id}": { params: { "run_id": string }; answer: ReadVerifyRunIdAnswer };
}

/** The statement of an admin about the source of a module. */
export interface Attestation {
  /** Revision of the library that it is built with. */
  "alkanes_rev"?: string | null;
  /** Commit of the source. */
  "commit"?: string | null;
  /** Description of the build, as it was sent. */
  "manifest"?: unknown;
  /** As it was submitted. */
  "match_pct"?: number | null;
  /** Note for human readers. */
  "note"?: string | null;
  /** Where its source is. */
  "repo_url": string;
  /** Compiler. */
  "rustc"?: string | null;
  /** Folder of the source. */
  "subdir"?: string | null;
  /** `verified` when not stated. */
  "verdict": string;
  /** The alkane by which the module was named. */
  "verified_via"?: string | null;
  /** SHA-256 of the module. */
  "wasm_sha256": string;
}

/** How a submission was built, shown beside its source so that others can check and repeat the build. */
export interface HowBuilt {
  /** Variables that the submission set. */
  "build_env": Record<string, string>;
  /** Home folder that the build saw, where the submission chose one. */
  "home_dir"?: string | null;
  /** Settings of the submission that had no effect. */
  "ignored": Array<string>;
  /** Whether the build was isolated from the machine. */
  "isolated": boolean;
  /** Programs of the submission that ran. */
  "programs": Array<Program>;
  /** Whether a second build without build scripts gave the same module. */
  "repeated": boolean;
  /** `rustc --version` of the compiler. */
  "rustc": string;
}

/** An id as an object. */
export interface Id {
  "block": string;
  "tx": string;
}

export type IdText = string;

/** A program that came with a submission and was allowed to run. */
export interface Program {
  /** What it is. */
  "kind": ProgramKind;
  /** Its package. */
  "name": string;
  /** The version of the package. */
  "version": string;
}

/** What it is. */
export type ProgramKind = "build-script" | "macro";

export interface ReadSourceBlockTxAnswer {
  "ok": true;
  /** Members that the description and the tree share. */
  "source": ReadSourceBlockTxAnswerSource;
}

/** Members that the description and the tree share. */
export interface ReadSourceBlockTxAnswerSource {
  "alkane": IdText;
  /** The newest runs for the module, whatever their verdict. */
  "attempts": Array<ReadSourceBlockTxAnswerSourceAttemptsItem>;
  /** An admin's attestation of the same module; it does not cover these files. */
  "attestation"?: Attestation | null;
  "block": string;
  /** How it was built, where that is known. */
  "built"?: HowBuilt | null;
  "commit"?: string | null;
  /** The file to look at first. */
  "entrypoint"?: string | null;
  "fileCount": number;
  "match_pct": number;
  "name"?: string | null;
  "origin": string;
  "owner"?: string | null;
  "package": string;
  "private"?: boolean | null;
  "repo": string;
  "subdir"?: string | null;
  "tx": string;
  "verdict": Verdict;
  "verified": boolean;
}

/** An attempt at one module, as listed with its source. */
export interface ReadSourceBlockTxAnswerSourceAttemptsItem {
  "commit": string | null;
  "ended_at": string | null;
  "failure"?: ReadSourceBlockTxAnswerSourceAttemptsItemFailure | null;
  "match_pct"?: number | null;
  /** Programs of the submission that ran. */
  "programs"?: number | null;
  "repo": string | null;
  "run_id": string;
  "verdict"?: Verdict | null;
}

/** Why a run failed. */
export type ReadSourceBlockTxAnswerSourceAttemptsItemFailure = "FETCH_FAILED" | "SOURCE_REFUSED" | "PACKAGE_NOT_FOUND" | "BUILD_FAILED" | "NOT_REPEATABLE" | "TIME_LIMIT" | "MEMORY_LIMIT" | "DISK_LIMIT" | "NOT_ISOLATED" | "INTERRUPTED" | "INTERNAL";

export interface ReadSourceBlockTxBlobAnswer {
  "blob": ReadSourceBlockTxBlobAnswerBlob;
  "ok": true;
}

export interface ReadSourceBlockTxBlobAnswerBlob {
  "alkane": IdText;
  /** Of binary files. */
  "base64"?: string | null;
  "binary": boolean;
  "bytes": number;
  "path": string;
  "text": string | null;
  "truncated": boolean;
}

export interface ReadSourceBlockTxTreeAnswer {
  "ok": true;
  /** Members that the description and the tree share. */
  "tree": ReadSourceBlockTxTreeAnswerTree;
}

/** Members that the description and the tree share. */
export interface ReadSourceBlockTxTreeAnswerTree {
  "alkane": IdText;
  "commit"?: string | null;
  /** The file to look at first. */
  "entrypoint"?: string | null;
  "nodes": Array<ReadSourceBlockTxTreeAnswerTreeNodesItem>;
  "origin": string;
  "repo": string;
  "subdir"?: string | null;
}

/** One line of a tree. */
export interface ReadSourceBlockTxTreeAnswerTreeNodesItem {
  /** Path from the root. */
  "path": string;
  /** Bytes, of files. */
  "size"?: number | null;
  /** What it is. */
  "type": ReadSourceBlockTxTreeAnswerTreeNodesItemType;
}

/** What it is. */
export type ReadSourceBlockTxTreeAnswerTreeNodesItemType = "blob" | "tree";

export interface ReadVerifyAnswer {
  /** Whether submissions are accepted. */
  "accepts": boolean;
  "ok": true;
  "toolchains": Array<ReadVerifyAnswerToolchainsItem>;
}

export interface ReadVerifyAnswerToolchainsItem {
  "builds_library": boolean;
  "name": string;
  "rustc": string;
  "version": string;
}

export interface ReadVerifyRunIdAnswer {
  "ok": true;
  "run": Run;
}

/** A run. */
export interface Run {
  "alkane": Id;
  /** Variables that the submission set. */
  "build_env"?: Record<string, string> | null;
  "commit": string | null;
  "created_at": string | null;
  "deployed_sha256": string;
  "ended_at": string | null;
  "failure"?: RunFailure | null;
  "home_dir"?: string | null;
  /** End of the build's output. */
  "log"?: string | null;
  "package": string | null;
  "repo_url": string | null;
  "result"?: RunResult | null;
  "run_id": string;
  /** Stage of a run. */
  "stage": RunStartStage;
  "status": RunStartStatus;
}

export interface RunFailure {
  /** Why a run failed. */
  "code": ReadSourceBlockTxAnswerSourceAttemptsItemFailure;
  "reason": string;
}

export interface RunResult {
  "built_sha256": string;
  "code_identical": boolean;
  "commit": string | null;
  /** Settings of the submission that had no effect. */
  "ignored": Array<string>;
  "isolated": boolean;
  /** Share of bytes in equal sections, per cent. */
  "match_pct": number;
  "package": string;
  /** Programs of the submission that ran. */
  "programs": Array<Program>;
  /** Whether a second build without build scripts made the same module. */
  "repeated": boolean;
  "rustc": string;
  "sections": Array<RunResultSectionsItem>;
  "source_stored": boolean;
  "verdict": Verdict;
}

/** One section of the two modules. */
export interface RunResultSectionsItem {
  /** Bytes in the built module; 0 when it has none. */
  "built_size": number;
  /** Bytes in the deployed module. */
  "deployed_size": number;
  /** Whether both hold the same bytes. */
  "identical": boolean;
  /** Name of the section as the WebAssembly specification has it. */
  "name": string;
}

/** Members that every answer about a run begins with. */
export interface RunStart {
  "alkane": Id;
  "commit": string | null;
  "package": string | null;
  "repo_url": string | null;
  "run_id": string;
  /** Stage of a run. */
  "stage": RunStartStage;
  "status": RunStartStatus;
}

/** Stage of a run. */
export type RunStartStage = "queued" | "fetching" | "unpacking" | "building" | "comparing" | "finished";

export type RunStartStatus = "building" | "done" | "failed";

/** How similar a built module is to the deployed one; worst first, so that the better one is the greater. */
export type Verdict = "mismatch" | "partial" | "verified" | "reproducible";

export type VerifyBuildEnv = string | Array<string>;
