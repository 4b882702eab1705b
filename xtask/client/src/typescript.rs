//! The TypeScript of a document.

use std::fmt::Write as _;

use crate::model::{Ask, Call, Form, Module};
use crate::names;
use crate::schema::{Member, Shape, Type, number_or_text};

const MARK: &str = "// Written from the declarations: docs/clients.md says how.\n";

pub(crate) fn index(modules: &[Module]) -> String {
    let mut text = MARK.to_owned();
    for module in modules {
        let _ = writeln!(text, "export * as {name} from \"./{name}.js\";", name = module.name);
    }
    text.push_str("export * from \"./client.js\";\n");
    text
}

pub(crate) fn module(module: &Module) -> String {
    let mut text = format!("// {}.\n{MARK}", module.about);
    let has_methods = module.calls.iter().any(|call| matches!(call.ask, Ask::Method { .. }));
    let what = if has_methods { "Methods" } else { "Routes" };
    let _ = writeln!(text, "\n/** Parameters and answer of each, by its name. */\nexport interface {what} {{");
    for call in &module.calls {
        write_about(&mut text, &call.about, "  ");
        let name = &call.asked;
        let _ = writeln!(text, "  {name:?}: {{ params: {}; answer: {} }};", params(call), kind(&call.answer));
        for alias in &call.aliases {
            let _ = writeln!(text, "  /** The same as `{name}`. */\n  {alias:?}: {what}[{name:?}];");
        }
    }
    text.push_str("}\n");
    for (name, definition) in &module.definitions {
        text.push('\n');
        write_about(&mut text, &definition.about, "");
        match &definition.shape {
            Shape::Record(members) => {
                let _ = writeln!(text, "export interface {name} {{");
                for member in members {
                    write_about(&mut text, &member.about, "  ");
                    let _ = writeln!(text, "  {};", written(member));
                    if let Some(twin) = twin(member).filter(|_| definition.has_twins) {
                        let _ = writeln!(text, "  {};", written(&twin));
                    }
                }
                text.push_str("}\n");
            }
            Shape::Union(kinds) => {
                let kinds: Vec<String> = kinds.iter().map(kind).collect();
                let _ = writeln!(text, "export type {name} = {};", kinds.join(" | "));
            }
            Shape::Words { words, .. } => {
                let words: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
                let _ = writeln!(text, "export type {name} = {};", words.join(" | "));
            }
            Shape::Alias(of) => {
                let _ = writeln!(text, "export type {name} = {};", kind(of));
            }
        }
    }
    text
}

fn write_about(text: &mut String, about: &str, indent: &str) {
    if !about.is_empty() {
        let about = about.replace("*/", "*\\/").replace('\n', &format!("\n{indent} * "));
        for line in format!("{indent}/** {about} */").lines() {
            let _ = writeln!(text, "{}", line.trim_end());
        }
    }
}

fn written(member: &Member) -> String {
    let mark = if member.is_required { "" } else { "?" };
    let kind = match (member.is_required, &member.kind) {
        (false, Type::Optional(_) | Type::Any) | (true, _) => kind(&member.kind),
        // `null` counts as absent.
        (false, other) => format!("{} | null", kind(other)),
    };
    format!("{:?}{mark}: {kind}", member.name)
}

/// The member under its name in `snake_case`, as the API makes it; amounts may be numbers there.
fn twin(member: &Member) -> Option<Member> {
    let mut name = String::new();
    for letter in member.name.chars() {
        if letter.is_ascii_uppercase() {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
    }
    let kind = match &member.kind {
        Type::Amount => number_or_text(),
        Type::Optional(inner) if **inner == Type::Amount => Type::Optional(Box::new(number_or_text())),
        other => other.clone(),
    };
    (name != member.name).then(|| Member { name, kind, is_required: false, about: String::new() })
}

fn params(call: &Call) -> String {
    let Ask::Method { form: form @ (Form::Positional | Form::Variadic), .. } = call.ask else {
        let members: Vec<String> = call.params.iter().map(written).collect();
        return if members.is_empty() {
            "Record<string, never>".to_owned()
        } else {
            format!("{{ {} }}", members.join("; "))
        };
    };
    let last_needed = call.params.iter().rposition(|param| param.is_required).map_or(0, |place| place + 1);
    let items = call.params.iter().enumerate().map(|(place, param)| {
        let name = names::of_label(&param.name);
        match &param.kind {
            Type::List(_) if form == Form::Variadic && place + 1 == call.params.len() => {
                format!("...{name}: {}", kind(&param.kind))
            }
            of if param.is_required => format!("{name}: {}", kind(of)),
            of if place < last_needed => format!("{name}: {} | null", kind(of)),
            of => format!("{name}?: {} | null", kind(of)),
        }
    });
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}

/// A type as TypeScript writes it.
fn kind(of: &Type) -> String {
    match of {
        Type::Any => "unknown".to_owned(),
        Type::Null => "null".to_owned(),
        Type::Flag => "boolean".to_owned(),
        Type::Unsigned(_) | Type::Signed(_) | Type::Number => "number".to_owned(),
        Type::Text | Type::Amount => "string".to_owned(),
        Type::Constant(value) => value.to_string(),
        Type::List(inner) => format!("Array<{}>", kind(inner)),
        Type::Tuple(items) => format!("[{}]", items.iter().map(kind).collect::<Vec<_>>().join(", ")),
        Type::Map(inner) => format!("Record<string, {}>", kind(inner)),
        Type::Named(name) if name == "NumberOrText" => "number | string".to_owned(),
        Type::Named(name) => name.clone(),
        Type::Optional(inner) => format!("{} | null", kind(inner)),
    }
}
