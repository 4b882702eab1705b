//! The declaration of a contract.

/// Declares a contract: its name, and for each opcode the handler with its parameters and the type of what it returns.
///
/// A handler is a function in scope that takes `&mut Environment` and the parameters in order, and returns
/// `Result<R, Revert>` with an `R` that is a [`Reply`](crate::Reply). Without an arrow the description says `void`. Opcodes
/// are decimal or hexadecimal literals. A last line `_ => handler;` takes every other call, also one without an opcode;
/// without it such a call reverts.
///
/// Makes a unit struct of the name that implements [`Contract`](crate::Contract), and on wasm32 the exports `__execute` and
/// `__meta`.
#[macro_export]
macro_rules! contract {
    (
        $(#[$attribute:meta])*
        $name:ident {
            $(
                $(#[$documentation:meta])*
                $opcode:literal => $handler:ident ( $( $parameter:ident : $kind:ty ),* $(,)? ) $( -> $returns:ty )? ;
            )+
            $( _ => $fallback:ident ; )?
        }
    ) => {
        $(#[$attribute])*
        #[derive(Debug, Clone, Copy)]
        pub struct $name;

        impl $crate::Contract for $name {
            const NAME: &'static str = stringify!($name);
            const METHODS: &'static [$crate::Method] = &[
                $( $crate::Method {
                    name: stringify!($handler),
                    opcode: $opcode,
                    parameters: &[ $( (stringify!($parameter), stringify!($kind)) ),* ],
                    returns: $crate::contract!(@returns $( $returns )?),
                } ),+
            ];

            fn dispatch(env: &mut $crate::Environment) -> Result<$crate::Response, $crate::Revert> {
                let mut inputs = $crate::Inputs::of(env);
                match inputs.word() {
                    $( Some($opcode) => {
                        $( let $parameter: $kind =
                            inputs.parameter(concat!("missing or malformed parameter: ", stringify!($parameter)))?; )*
                        let reply = $handler(env $(, $parameter)*)?;
                        $( let reply: $returns = reply; )?
                        Ok($crate::Reply::into_response(reply, env))
                    } )+
                    $( _ => $fallback(env), )?
                    #[allow(unreachable_patterns)]
                    Some(_) => Err($crate::Revert::from("unknown opcode")),
                    #[allow(unreachable_patterns)]
                    None => Err($crate::Revert::from("no opcode")),
                }
            }
        }

        #[cfg(target_arch = "wasm32")]
        #[unsafe(no_mangle)]
        extern "C" fn __execute() -> i32 {
            $crate::entry::execute::<$name>()
        }

        #[cfg(target_arch = "wasm32")]
        #[unsafe(no_mangle)]
        extern "C" fn __meta() -> i32 {
            $crate::entry::describe::<$name>()
        }
    };
    (@returns) => { "void" };
    (@returns $returns:ty) => { stringify!($returns) };
}
