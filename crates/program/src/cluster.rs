//! Settings that need servers which several gateways share.

/// Refuses a setting that this program was built without.
///
/// # Errors
/// The message, which names the setting and how to get a program that has it.
pub(crate) fn needed_by(setting: &str) -> Result<(), String> {
    if cfg!(feature = "cluster") {
        return Ok(());
    }
    Err(format!(
        "{setting} needs a program built with the feature `cluster`, and this one was built without it: build it with \
         `cargo build --release --features cluster`, install a package that has it, or remove the setting"
    ))
}
