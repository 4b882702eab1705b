//! Which Bitcoin scripts the two roles accept. Refused, never normalised.

/// What a script is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Where the USD token settles: `recipient_script`. An output of a transaction that the coordinator builds, so only the
    /// five forms that wallets can spend today.
    Recipient,
    /// Where converted BTC is paid: `btc_destination`. The specification's rule: P2PKH, P2SH, or any witness version.
    Destination,
}

/// The forms of a payable script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScriptKind {
    /// To a public key hash, 25 bytes.
    P2pkh,
    /// To a script hash, 23 bytes.
    P2sh,
    /// Witness version 0 with 20 bytes.
    P2wpkh,
    /// Witness version 0 with 32 bytes.
    P2wsh,
    /// Witness version 1 with 32 bytes.
    P2tr,
    /// Another witness program, of version 1 to 16 and 2 to 40 bytes. No rule protects it today: **anyone can spend it**
    /// until one is agreed on, and pay-to-anchor (version 1, two bytes) for ever.
    FutureWitness {
        /// 1 to 16.
        version: u8,
        /// 2 to 40 bytes.
        program_bytes: usize,
    },
}

impl ScriptKind {
    /// Its usual name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            ScriptKind::P2pkh => "P2PKH",
            ScriptKind::P2sh => "P2SH",
            ScriptKind::P2wpkh => "P2WPKH",
            ScriptKind::P2wsh => "P2WSH",
            ScriptKind::P2tr => "P2TR",
            ScriptKind::FutureWitness { .. } => "future witness program",
        }
    }

    /// Whether it is anyone-can-spend under the rules of today.
    #[must_use]
    pub fn anyone_can_spend(self) -> bool {
        matches!(self, ScriptKind::FutureWitness { .. })
    }
}

/// Why a script is not paid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ScriptRefusal {
    /// No bytes at all.
    #[error("the script is empty")]
    Empty,
    /// None of the accepted forms: `OP_RETURN`, bare multisig, a script with a changed byte, …
    #[error("the script is neither P2PKH nor P2SH nor a witness program: it may be unspendable")]
    NotPayable,
    /// Witness version 0 with a program of a length that no rule spends.
    #[error("a witness program of version 0 has 20 or 32 bytes, this one has {0}: coins sent to it are lost")]
    WitnessV0Length(usize),
    /// A witness program shorter than 2 or longer than 40 bytes, or whose length does not match its push.
    #[error("a witness program is one push of 2 to 40 bytes")]
    WitnessProgram,
    /// Payable, but not one of the five forms in which the USD token may settle.
    #[error("the USD token settles only on P2PKH, P2SH, P2WPKH, P2WSH or P2TR, not on a {}", .0.name())]
    NotARecipient(ScriptKind),
}

/// The form of a script when the role accepts it (docs/bridge.md).
///
/// # Errors
/// [`ScriptRefusal`] states why not.
pub fn check_script(script: &[u8], role: Role) -> Result<ScriptKind, ScriptRefusal> {
    let kind = payable(script)?;
    match (role, kind) {
        (Role::Recipient, ScriptKind::FutureWitness { .. }) => Err(ScriptRefusal::NotARecipient(kind)),
        _ => Ok(kind),
    }
}

fn payable(script: &[u8]) -> Result<ScriptKind, ScriptRefusal> {
    match script {
        [] => Err(ScriptRefusal::Empty),
        [0x76, 0xa9, 0x14, hash @ .., 0x88, 0xac] if hash.len() == 20 => Ok(ScriptKind::P2pkh),
        [0xa9, 0x14, hash @ .., 0x87] if hash.len() == 20 => Ok(ScriptKind::P2sh),
        [version @ (0x00 | 0x51..=0x60), rest @ ..] => witness(*version, rest),
        _ => Err(ScriptRefusal::NotPayable),
    }
}

fn witness(version: u8, rest: &[u8]) -> Result<ScriptKind, ScriptRefusal> {
    let Some((push, program)) = rest.split_first() else { return Err(ScriptRefusal::WitnessProgram) };
    if usize::from(*push) != program.len() || !(2..=40).contains(&program.len()) {
        return Err(ScriptRefusal::WitnessProgram);
    }
    match (version, program.len()) {
        (0x00, 20) => Ok(ScriptKind::P2wpkh),
        (0x00, 32) => Ok(ScriptKind::P2wsh),
        (0x00, length) => Err(ScriptRefusal::WitnessV0Length(length)),
        (0x51, 32) => Ok(ScriptKind::P2tr),
        (version, program_bytes) => Ok(ScriptKind::FutureWitness { version: version - 0x50, program_bytes }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(prefix: &[u8], fill: u8, count: usize, suffix: &[u8]) -> Vec<u8> {
        [prefix, &vec![fill; count], suffix].concat()
    }

    /// row BR03
    #[test]
    fn the_five_forms_are_accepted_by_both_roles() {
        for (script, kind) in [
            (script(&[0x76, 0xa9, 0x14], 0xef, 20, &[0x88, 0xac]), ScriptKind::P2pkh),
            (script(&[0xa9, 0x14], 0xef, 20, &[0x87]), ScriptKind::P2sh),
            (script(&[0x00, 0x14], 0xcd, 20, &[]), ScriptKind::P2wpkh),
            (script(&[0x00, 0x20], 0xcd, 32, &[]), ScriptKind::P2wsh),
            (script(&[0x51, 0x20], 0xab, 32, &[]), ScriptKind::P2tr),
        ] {
            assert_eq!(check_script(&script, Role::Recipient), Ok(kind));
            assert_eq!(check_script(&script, Role::Destination), Ok(kind));
        }
    }

    /// row BR03
    #[test]
    fn what_nobody_can_spend_is_refused_by_both_roles() {
        for (script, refusal) in [
            (vec![], ScriptRefusal::Empty),
            (vec![0x6a, 0x04, 0, 0, 0, 0], ScriptRefusal::NotPayable),
            (script(&[0x76, 0xa9, 0x14], 0xef, 20, &[0x88, 0xad]), ScriptRefusal::NotPayable),
            (script(&[0x76, 0xa9, 0x14], 0xef, 21, &[0x88, 0xac]), ScriptRefusal::NotPayable),
            (script(&[0xa9, 0x14], 0xef, 19, &[0x87]), ScriptRefusal::NotPayable),
            (script(&[0x21], 0x02, 33, &[0xac]), ScriptRefusal::NotPayable),
            (script(&[0x00, 0x10], 0xcd, 16, &[]), ScriptRefusal::WitnessV0Length(16)),
            (script(&[0x00, 0x21], 0xcd, 33, &[]), ScriptRefusal::WitnessV0Length(33)),
            (script(&[0x51, 0x20], 0xab, 31, &[]), ScriptRefusal::WitnessProgram),
            (script(&[0x51, 0x20], 0xab, 33, &[]), ScriptRefusal::WitnessProgram),
            (script(&[0x52, 0x01], 0xab, 1, &[]), ScriptRefusal::WitnessProgram),
            (script(&[0x52, 0x29], 0xab, 41, &[]), ScriptRefusal::WitnessProgram),
            (script(&[0x61, 0x20], 0xab, 32, &[]), ScriptRefusal::NotPayable),
            (script(&[0x50, 0x20], 0xab, 32, &[]), ScriptRefusal::NotPayable),
            (vec![0x51], ScriptRefusal::WitnessProgram),
            (vec![0x00], ScriptRefusal::WitnessProgram),
        ] {
            for role in [Role::Recipient, Role::Destination] {
                assert_eq!(check_script(&script, role), Err(refusal), "{script:02x?}");
            }
        }
    }

    /// row BR03
    #[test]
    fn a_future_witness_program_is_a_destination_and_no_recipient() {
        for (version, count) in [(1u8, 20usize), (1, 2), (2, 32), (16, 40), (16, 2), (9, 33)] {
            let script = script(&[0x50 + version, u8::try_from(count).unwrap()], 0xcd, count, &[]);
            let kind = ScriptKind::FutureWitness { version, program_bytes: count };
            assert_eq!(check_script(&script, Role::Destination), Ok(kind));
            assert_eq!(check_script(&script, Role::Recipient), Err(ScriptRefusal::NotARecipient(kind)));
            assert!(kind.anyone_can_spend());
        }
    }
}
