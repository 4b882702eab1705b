//! `cargo xtask package`: the program as a Debian package, as an archive of the same files, and as an image with a node beside it.
//!
//! What goes into a package is in `packaging/`; completions and manual pages come from the program itself. The files are laid out once,
//! in a folder that both the archive and the package are made of.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use memchr::memmem;
use sha2::{Digest as _, Sha256};

use crate::notices;
use crate::process::{Failure, Outcome, capture, run};
use crate::profiled::{self, FEATURES};
use crate::repository;

/// Largest packaged program in bytes.
const PROGRAM_BYTES_MAX: u64 = 60_000_000;
/// Names the commit to the build script of the program.
const COMMIT: &str = "PARAFFIN_COMMIT";
/// Where the files of the package are laid out, in the output folder.
const TREE: &str = "tree";
/// Completions: the shell's name, and where Debian's shells look for them.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "usr/share/bash-completion/completions/paraffin"),
    ("zsh", "usr/share/zsh/vendor-completions/_paraffin"),
    ("fish", "usr/share/fish/vendor_completions.d/paraffin.fish"),
];
/// Files of the repository and where they are installed.
const FILES: [(&str, &str); 5] = [
    ("packaging/paraffin.toml", "etc/paraffin/paraffin.toml"),
    ("packaging/paraffin.service", "usr/lib/systemd/system/paraffin.service"),
    ("LICENSE-MIT", "usr/share/doc/paraffin/LICENSE-MIT"),
    ("LICENSE-APACHE", "usr/share/doc/paraffin/LICENSE-APACHE"),
    ("CHANGELOG.md", "usr/share/doc/paraffin/changelog"),
];
const MANUAL: &str = "usr/share/man/man1";
/// The licence notices of the crates that are built in.
const NOTICES: &str = "usr/share/doc/paraffin/THIRD-PARTY-NOTICES";
/// Files of the repository that are placed beside the packages.
const BESIDE: [&str; 2] = ["packaging/Dockerfile", "packaging/compose.yaml"];
/// Versions of symbols of the C++ library, and the first compiler that brings them.
const CXX_LIBRARIES: [(u32, u32); 7] = [(28, 10), (29, 11), (30, 12), (31, 13), (32, 13), (33, 14), (34, 15)];

/// How much work packing is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// Half a minute, for packages that are handed out.
    Best,
    /// None in the Debian package and little in the archive, for tests.
    Fast,
}

/// What [`pack`] made.
#[derive(Debug)]
pub struct Packages {
    /// The Debian package.
    pub deb: PathBuf,
    /// The same files in an archive, below one folder.
    pub archive: PathBuf,
    /// Everything that `SHA256SUMS` lists.
    pub files: Vec<PathBuf>,
}

/// Builds the program and its packages in `out`, by default `packages/` of cargo's target folder, and lists them with their sizes.
///
/// # Errors
/// The program cannot be built, is too large, or cannot be packed.
pub fn build(root: &Path, out: Option<&Path>) -> Outcome {
    // The build script watches sources; here the mark has to be right whatever it has seen.
    let given = std::env::var_os(COMMIT).is_some();
    let commit = if given { None } else { commit(root) };
    let environment: Vec<(&str, String)> = commit.map(|commit| (COMMIT, commit)).into_iter().collect();
    let program = profiled::build(root, &environment)?;
    let target = root.join(repository::target(root));
    let bytes = size(&program)?;
    if bytes > PROGRAM_BYTES_MAX {
        let what = format!("the program has {bytes} bytes, more than the {PROGRAM_BYTES_MAX} of a package");
        return Err(Failure::new(what));
    }
    let out = out.map_or_else(|| target.join("packages"), Path::to_path_buf);
    let packages = pack(root, &program, &out, Compression::Best)?;
    print!("{}", capture(Command::new(&program).arg("--version"))?);
    for file in packages.files {
        println!("{:>12} bytes  {}", size(&file)?, file.display());
    }
    Ok(())
}

/// The commit as the program shows it; `None` without git.
fn commit(root: &Path) -> Option<String> {
    let git = |arguments: &[&str]| capture(Command::new("git").current_dir(root).args(arguments)).ok();
    let commit = git(&["rev-parse", "--short=12", "HEAD"])?.trim().to_owned();
    let is_clean = git(&["status", "--porcelain", "--untracked-files=no"])?.is_empty();
    Some(if is_clean { commit } else { format!("{commit}-dirty") })
}

/// Makes the packages of a built program in `out`, which is made where it is missing. Packages of earlier runs are removed from it.
///
/// # Errors
/// The program does not run, a file cannot be written, or `dpkg-deb`, `tar` or `gzip` fails.
pub fn pack(root: &Path, program: &Path, out: &Path, compression: Compression) -> Outcome<Packages> {
    fs::create_dir_all(out).map_err(|error| failed(out, &error))?;
    let out = &out.canonicalize().map_err(|error| failed(out, &error))?;
    clear(out)?;
    let printed = capture(Command::new(program).arg("--version"))?;
    let Some(version) =
        printed.split_whitespace().nth(1).filter(|version| version.starts_with(|c: char| c.is_ascii_digit()))
    else {
        return Err(Failure::new(format!("{} names no version: {}", program.display(), printed.trim())));
    };

    let tree = out.join(TREE);
    lay_out(root, program, &tree)?;
    let name = format!("paraffin-{version}-{}-{}", std::env::consts::ARCH, std::env::consts::OS);
    let archive = out.join(format!("{name}.tar.gz"));
    pack_archive(&tree, &name, &archive, compression)?;
    let deb = pack_deb(root, &tree, out, version, compression)?;
    fs::remove_dir_all(&tree).map_err(|error| failed(&tree, &error))?;

    let mut files = vec![archive.clone(), deb.clone(), out.join("paraffin")];
    copy(program, &files[2], 0o755)?;
    for file in BESIDE {
        let place = out.join(file.rsplit('/').next().unwrap_or(file));
        copy(&root.join(file), &place, 0o644)?;
        files.push(place);
    }
    files.sort();
    let sums: String = files.iter().map(|file| sum(file)).collect::<Outcome<_>>()?;
    write(&out.join("SHA256SUMS"), &sums)?;
    Ok(Packages { deb, archive, files })
}

/// Removes what an earlier run made: an image takes every package in this folder.
fn clear(out: &Path) -> Outcome {
    for entry in fs::read_dir(out).map_err(|error| failed(out, &error))? {
        let path = entry.map_err(|error| failed(out, &error))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let removed = if name == TREE {
            fs::remove_dir_all(&path)
        } else if name.starts_with("paraffin") && (name.ends_with(".deb") || name.ends_with(".tar.gz")) {
            fs::remove_file(&path)
        } else {
            Ok(())
        };
        removed.map_err(|error| failed(&path, &error))?;
    }
    Ok(())
}

/// Every file of a package at its place below `tree`.
fn lay_out(root: &Path, program: &Path, tree: &Path) -> Outcome {
    copy(program, &tree.join("usr/bin/paraffin"), 0o755)?;
    for (from, to) in FILES {
        copy(&root.join(from), &tree.join(to), 0o644)?;
    }
    write(&tree.join("usr/share/doc/paraffin/copyright"), &copyright(root)?)?;
    write(&tree.join(NOTICES), &notices::third_party(root, FEATURES)?)?;
    for (shell, to) in COMPLETIONS {
        write(&tree.join(to), &capture(Command::new(program).args(["completions", shell]))?)?;
    }
    let manual = tree.join(MANUAL);
    fs::create_dir_all(&manual).map_err(|error| failed(&manual, &error))?;
    capture(Command::new(program).arg("man").arg(&manual))?;
    let mut gzip = Command::new("gzip");
    gzip.args(["-9", "-n", "--recursive"]).arg(&manual);
    gzip.arg(tree.join("usr/share/doc/paraffin/changelog")).arg(tree.join(NOTICES));
    run(&mut gzip)?;
    // Whatever the umask is: everyone may read and only the owner may write.
    run(Command::new("chmod").args(["-R", "u=rwX,go=rX"]).arg(tree))
}

/// Debian's machine-readable form, with the whole text of one licence and the place of the other.
fn copyright(root: &Path) -> Outcome<String> {
    let indented: String = read(&root.join("LICENSE-MIT"))?
        .lines()
        .map(|line| if line.is_empty() { " .\n".to_owned() } else { format!(" {line}\n") })
        .collect();
    Ok(format!(
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\
         Upstream-Name: paraffin\n\n\
         Files: *\nCopyright: the Paraffin authors\nLicense: MIT or Apache-2.0\n\
         Comment: The program has libraries of others built in; their notices are in THIRD-PARTY-NOTICES.gz beside this file.\n\n\
         License: MIT\n{indented}\n\
         License: Apache-2.0\n The text is in /usr/share/common-licenses/Apache-2.0 and in LICENSE-APACHE beside this file.\n"
    ))
}

fn pack_archive(tree: &Path, name: &str, archive: &Path, compression: Compression) -> Outcome {
    let level = if compression == Compression::Best { "gzip -9 -n" } else { "gzip -1 -n" };
    let mut tar = Command::new("tar");
    tar.args(["--create", "--owner=root:0", "--group=root:0", "--sort=name", "--use-compress-program", level]);
    tar.arg("--file").arg(archive).arg("--directory").arg(tree);
    tar.arg(format!("--transform=s,^\\.,{name},")).arg(".");
    run(&mut tar)
}

fn pack_deb(root: &Path, tree: &Path, out: &Path, version: &str, compression: Compression) -> Outcome<PathBuf> {
    let architecture = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    let sizes = capture(Command::new("du").args(["--summarize", "--apparent-size", "--block-size=1024"]).arg(tree))?;
    let installed_kib = sizes.split_whitespace().next().unwrap_or_default();
    let sums =
        capture(Command::new("find").current_dir(tree).args(["usr", "-type", "f", "-exec", "md5sum", "{}", "+"]))?;

    let program = fs::read(tree.join("usr/bin/paraffin")).map_err(|error| failed(tree, &error))?;
    let control = read(&root.join("packaging/debian/control"))?
        .replace("@VERSION@", version)
        .replace("@ARCHITECTURE@", architecture)
        .replace("@INSTALLED_KIB@", installed_kib)
        .replace("@LIBRARIES@", &libraries(&program)?);
    let folder = tree.join("DEBIAN");
    write(&folder.join("control"), &control)?;
    write(&folder.join("md5sums"), &sums)?;
    for (name, mode) in [("conffiles", 0o644), ("postinst", 0o755), ("prerm", 0o755), ("postrm", 0o755)] {
        copy(&root.join("packaging/debian").join(name), &folder.join(name), mode)?;
    }
    run(Command::new("chmod").args(["-R", "u=rwX,go=rX"]).arg(&folder))?;

    let deb = out.join(format!("paraffin_{version}_{architecture}.deb"));
    let mut build = Command::new("dpkg-deb");
    build.arg(if compression == Compression::Best { "-Zxz" } else { "-Znone" });
    build.args(["--root-owner-group", "--build"]).arg(tree).arg(&deb);
    capture(&mut build)?;
    Ok(deb)
}

/// The packages with the libraries that the program is linked with, in the versions that its symbols ask for.
fn libraries(program: &[u8]) -> Outcome<String> {
    let Some((major, minor)) = newest(program, "GLIBC_") else {
        return Err(Failure::new("the program names no version of the C library: is it linked on Debian?"));
    };
    let mut packages = vec![format!("libc6 (>= {major}.{minor})")];
    if memmem::find(program, b"libgcc_s.so.1\0").is_some() {
        packages.push("libgcc-s1".to_owned());
    }
    if memmem::find(program, b"libstdc++.so.6\0").is_some() {
        let (_, patch) = newest(program, "GLIBCXX_3.").unwrap_or_default();
        let known = CXX_LIBRARIES.iter().find(|(symbols, _)| *symbols >= patch);
        let Some((_, compiler)) = known else {
            let what = format!("no package is known for GLIBCXX_3.4.{patch}: add it to CXX_LIBRARIES");
            return Err(Failure::new(what));
        };
        packages.push(format!("libstdc++6 (>= {compiler})"));
    }
    Ok(packages.join(", "))
}

/// The highest `<major>.<minor>` that follows the prefix anywhere in the program: names of symbol versions stand there as text.
fn newest(program: &[u8], prefix: &str) -> Option<(u32, u32)> {
    let at = memmem::find_iter(program, prefix);
    let versions = at.filter_map(|at| {
        let rest = &program[at + prefix.len()..];
        let end = rest.iter().take(12).position(|byte| !byte.is_ascii_digit() && *byte != b'.')?;
        let mut numbers = std::str::from_utf8(&rest[..end]).ok()?.split('.').map(|number| number.parse().ok());
        Some((numbers.next()??, numbers.next().flatten().unwrap_or_default()))
    });
    versions.max()
}

/// A line of `sha256sum`.
fn sum(file: &Path) -> Outcome<String> {
    let mut hasher = Sha256::new();
    let mut opened = fs::File::open(file).map_err(|error| failed(file, &error))?;
    io::copy(&mut opened, &mut hasher).map_err(|error| failed(file, &error))?;
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    Ok(format!("{:x}  {name}\n", hasher.finalize()))
}

fn size(file: &Path) -> Outcome<u64> {
    file.metadata().map(|metadata| metadata.len()).map_err(|error| failed(file, &error))
}

fn read(file: &Path) -> Outcome<String> {
    fs::read_to_string(file).map_err(|error| failed(file, &error))
}

fn write(file: &Path, text: &str) -> Outcome {
    let folder = file.parent().unwrap_or(file);
    let written = fs::create_dir_all(folder).and_then(|()| fs::write(file, text));
    written.map_err(|error| failed(file, &error))
}

fn copy(from: &Path, to: &Path, mode: u32) -> Outcome {
    let folder = to.parent().unwrap_or(to);
    let copied = fs::create_dir_all(folder)
        .and_then(|()| fs::copy(from, to))
        .and_then(|_| fs::set_permissions(to, fs::Permissions::from_mode(mode)));
    copied.map_err(|error| failed(from, &error))
}

fn failed(path: &Path, error: &io::Error) -> Failure {
    Failure::new(format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use yaml_rust2::{Yaml, YamlLoader};

    fn packaging(name: &str) -> String {
        read(&repository::root().join("packaging").join(name)).unwrap()
    }

    #[test]
    fn libraries_are_those_of_the_newest_symbols() {
        let program =
            b"\0GLIBC_2.9\0GLIBC_2.34\0GLIBC_2.2.5\0libgcc_s.so.1\0libstdc++.so.6\0GLIBCXX_3.4\0GLIBCXX_3.4.29\0";
        assert_eq!(libraries(program).unwrap(), "libc6 (>= 2.34), libgcc-s1, libstdc++6 (>= 11)");
        assert_eq!(libraries(b"\0GLIBC_2.17\0").unwrap(), "libc6 (>= 2.17)");
        assert!(libraries(b"no symbols at all, and that is too short").is_err());
        assert!(libraries(b"\0GLIBC_2.17\0libstdc++.so.6\0GLIBCXX_3.4.99\0").is_err());
    }

    #[test]
    fn maintainer_scripts_are_correct_shell() {
        for name in ["postinst", "prerm", "postrm"] {
            let path = repository::root().join("packaging/debian").join(name);
            run(Command::new("sh").arg("-n").arg(&path)).unwrap();
            assert!(packaging(&format!("debian/{name}")).starts_with("#!/bin/sh\n"), "{name}");
        }
    }

    /// Members of a mapping, in their order.
    fn members(yaml: &Yaml) -> Vec<&str> {
        yaml.as_hash().unwrap().keys().map(|key| key.as_str().unwrap()).collect()
    }

    #[test]
    fn the_services_of_compose_fit_each_other_and_the_image() {
        let documents = YamlLoader::load_from_str(&packaging("compose.yaml")).unwrap();
        let [compose] = &documents[..] else { panic!("{} documents", documents.len()) };
        assert_eq!(members(compose), ["name", "services", "networks", "volumes"]);
        let services = &compose["services"];
        assert_eq!(members(services), ["bitcoin", "paraffin"]);
        let (node, ours) = (&services["bitcoin"], &services["paraffin"]);

        // Volumes and networks that a service names are declared.
        for service in [node, ours] {
            let volume = service["volumes"][0].as_str().unwrap().split(':').next().unwrap();
            assert!(members(&compose["volumes"]).contains(&volume), "{volume}");
            assert_eq!(members(&service["networks"]), members(&compose["networks"]));
        }
        // Both speak of the same node with the same password.
        let environment = &ours["environment"];
        let address = node["networks"]["chain"]["ipv4_address"].as_str().unwrap();
        assert_eq!(environment["PARAFFIN_NODE__URL"].as_str().unwrap(), format!("http://{address}:8332"));
        assert_eq!(environment["PARAFFIN_NODE__P2P"].as_str().unwrap(), format!("{address}:8333"));
        let words: Vec<&str> = node["command"].as_vec().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
        let password = environment["PARAFFIN_NODE__PASSWORD"].as_str().unwrap();
        assert!(words.contains(&format!("-rpcpassword={password}").as_str()), "{words:?}");
        let user = environment["PARAFFIN_NODE__USER"].as_str().unwrap();
        assert!(words.contains(&format!("-rpcuser={user}").as_str()), "{words:?}");
        let subnet = compose["networks"]["chain"]["ipam"]["config"][0]["subnet"].as_str().unwrap();
        assert!(words.contains(&format!("-rpcallowip={subnet}").as_str()), "{words:?}");

        // What the image exposes and keeps is what compose publishes and mounts.
        let image = packaging("Dockerfile");
        let port = ours["ports"][0].as_str().unwrap().rsplit(':').next().unwrap();
        assert!(image.contains(&format!("\nEXPOSE {port}\n")), "{port}");
        let kept = ours["volumes"][0].as_str().unwrap().split(':').nth(1).unwrap();
        assert!(image.contains(&format!("\nVOLUME {kept}\n")), "{kept}");
        assert!(packaging("paraffin.toml").contains(&format!("\ndata_dir = \"{kept}\"\n")), "{kept}");
    }

    #[test]
    fn the_image_installs_the_package_and_runs_as_its_user() {
        let image = packaging("Dockerfile");
        assert!(image.contains("COPY paraffin_*.deb /tmp/\n") && image.contains(" /tmp/paraffin_*.deb "));
        assert!(image.contains("\nUSER paraffin\n"));
        assert!(packaging("debian/control").starts_with("Package: paraffin\n"));
        assert!(packaging("debian/postinst").contains("adduser --system --group --quiet --home /var/lib/paraffin"));
        for (_, installed) in FILES.iter().filter(|(_, to)| to.starts_with("etc/")) {
            assert!(packaging("debian/conffiles").lines().any(|line| line == format!("/{installed}")), "{installed}");
            assert!(image.contains(&format!("=/{installed}\n")), "{installed}");
        }
    }
}
