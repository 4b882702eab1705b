use super::*;

pub(crate) fn submission(change: impl FnOnce(&mut Submission)) -> Submission {
    let mut submission = Submission {
        alkane: AlkaneId { block: 2, tx: 1 },
        deployed: b"module".to_vec(),
        repo_url: "https://github.com/a/b".to_owned(),
        commit: None,
        subdir: None,
        package: None,
        rustc: None,
        home_dir: None,
        build_env: Vec::new(),
        archive: None,
        noted: json!({}),
    };
    change(&mut submission);
    submission
}

fn checked(change: impl FnOnce(&mut Submission)) -> Result<(Source, BuildOptions), String> {
    check(&submission(change), &Settings::default()).map_err(|error| error.to_string())
}

#[test]
fn a_repository_without_a_commit_is_built_at_its_head() {
    let (source, options) = checked(|_| {}).unwrap();
    assert!(matches!(source, Source::Repository(_, commit) if commit == "HEAD"));
    assert_eq!(options, BuildOptions::default());
}

#[test]
fn with_an_archive_the_repository_is_only_told() {
    let (source, _) = checked(|s| {
        s.archive = Some(vec![1]);
        s.repo_url = "git@example.org:private".to_owned();
    })
    .unwrap();
    assert_eq!(source, Source::Archive);
    assert!(checked(|s| s.repo_url = "git@example.org:private".to_owned()).is_err());
    assert!(
        checked(|s| {
            s.archive = Some(vec![1]);
            s.repo_url = "x".repeat(600);
        })
        .is_err()
    );
}

#[test]
fn fields_that_could_lead_elsewhere_are_refused() {
    let refuse = |change: fn(&mut Submission)| checked(change).unwrap_err();
    assert!(refuse(|s| s.subdir = Some("../x".to_owned())).starts_with("subdir"));
    assert!(refuse(|s| s.subdir = Some("/etc".to_owned())).starts_with("subdir"));
    for bad in ["--config=x", "a b", "", "a/b"] {
        assert!(checked(|s| s.package = Some(bad.to_owned())).is_err(), "{bad}");
    }
    for bad in
        ["home/x", "/usr/x", "/proc", "/me/../etc", "/me//x", "/", "/build/source", "/build", "/build/", "/me/.x"]
    {
        assert!(checked(|s| s.home_dir = Some(bad.to_owned())).is_err(), "{bad}");
    }
    for bad in ["PATH=/x", "LD_PRELOAD=x", "A=x", "X", "=x", "CONTRACT_A=\u{7}", "RUSTFLAGS=-Clinker=x"] {
        assert!(checked(|s| s.build_env = vec![bad.to_owned()]).is_err(), "{bad}");
    }
    assert!(checked(|s| s.build_env = vec![format!("CONTRACT_A={}", "x".repeat(9_000))]).is_err());
    assert!(refuse(|s| s.commit = Some("--upload-pack=x".to_owned())).starts_with("commit"));
}

#[test]
fn good_fields_reach_the_build() {
    let (_, options) = checked(|s| {
        s.subdir = Some("./contracts/".to_owned());
        s.package = Some("my-coin_2".to_owned());
        s.home_dir = Some("/users/me".to_owned());
        s.build_env = vec!["RUSTFLAGS=-C opt-level=z".to_owned(), String::new(), "CONTRACT_A=b=c".to_owned()];
    })
    .unwrap();
    assert_eq!(options.subdir, "contracts");
    assert_eq!(options.package.as_deref(), Some("my-coin_2"));
    assert_eq!(options.environment["RUSTFLAGS"], "-C opt-level=z");
    assert_eq!(options.environment["CONTRACT_A"], "b=c");
}

#[test]
fn a_home_folder_does_not_hide_the_compiler() {
    let folders = ["/srv/.rustup/toolchains/stable".into(), "/opt/rust".into()];
    for bad in ["/srv", "/opt", "/opt/rust", "/opt/rust/", "/opt/rust/bin"] {
        assert!(!leaves_compiler(bad, &folders), "{bad}");
    }
    for good in ["/users/me", "/srvs", "/opt/rusty", "/opt/other"] {
        assert!(leaves_compiler(good, &folders), "{good}");
    }
}
