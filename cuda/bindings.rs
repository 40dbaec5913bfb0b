//! Makes Rust's declarations from `hybz.h` and `limits.h`; a module of the build script, with and without the feature
//! `cuda`. It understands as much of C as these headers use: `#define`, `enum`, structures and functions.

/// The declarations of these headers.
pub fn bindings(headers: &str) -> String {
    let tokens = tokens(headers);
    let (mut out, mut functions, mut doc, mut at) = (String::new(), String::new(), "", 0);
    while at < tokens.len() {
        let (begin, token) = (at, tokens[at]);
        let end_of = |mark: &str| begin + 1 + tokens[begin..].iter().position(|t| t.starts_with(mark)).expect(mark);
        at = begin + 1;
        if let Some(comment) = token.strip_prefix("/*") {
            doc = comment;
            continue;
        } else if token == "#ifdef __cplusplus" {
            at = end_of("#endif");
        } else if let Some(definition) = token.strip_prefix("#define ") {
            out += &define(definition);
        } else if token == "enum" {
            at = end_of(";");
            out += &steps(tokens[begin..at].iter().copied().filter(|word| word.starts_with("HYBZ_")).enumerate());
        } else if token == "struct" && tokens[at + 1] == ";" {
            at = end_of(";");
            out += &format!("#[repr(C)]\npub struct {} {{\n_private: [u8; 0],\n}}\n", tokens[begin + 1]);
        } else if token == "struct" && tokens[at + 1] == "{" {
            at = end_of("}") + 1;
            out += &structure(tokens[begin + 1], doc, &tokens[begin + 3..at - 2]);
        } else if !token.starts_with('#') {
            at = end_of(";");
            functions += &function(&tokens[begin..at - 1]);
        }
        doc = "";
    }
    out + "#[cfg(feature = \"cuda\")]\nunsafe extern \"C\" {\n" + &functions + "}\n"
}

/// Splits a header into words, punctuation, comments (without their ends), and preprocessor lines (without comments).
fn tokens(mut text: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut tokens = Vec::new();
    while let Some(first) = text.chars().next() {
        let (len, skip) = match first {
            '/' => (text.find("*/").expect("the end of a comment"), 2),
            '#' => (text.find('\n').expect("a line").min(text.find("/*").unwrap_or(usize::MAX)), 0),
            _ if is_word(first) => (text.find(|c| !is_word(c)).expect("a mark"), 0),
            _ => (1, 0),
        };
        tokens.extend(Some(text[..len].trim()).filter(|token| !token.is_empty()));
        text = &text[len + skip..];
    }
    tokens
}

/// Declares a limit, a code, or a limit that depends on numbers.
fn define(definition: &str) -> String {
    let (name, value) = definition.split_once([' ', '(']).unwrap_or_default();
    match value.split_once(") ").filter(|_| definition[name.len()..].starts_with('(')) {
        None if name.is_empty() => String::new(), // the guard of a header
        None => format!("pub const {name}: {} = {value};\n", if value.contains('-') { "i32" } else { "usize" }),
        Some((names, value)) => {
            let names = names.replace(',', ": usize,");
            format!("pub const fn {name}({names}: usize) -> usize {{\n    {value}\n}}\n")
        }
    }
}

/// Declares the numbers of the timed steps, and their names; the last one is their count.
fn steps<'a>(steps: impl Iterator<Item = (usize, &'a str)>) -> String {
    let (mut out, mut names) = (String::new(), Vec::new());
    for (number, step) in steps {
        out += &format!("pub const {step}: usize = {number};\n");
        names.extend(step.strip_prefix("HYBZ_STEP_").map(|name| name.replace('_', " ").to_lowercase()));
    }
    out + &format!("pub const HYBZ_STEP_NAMES: [&str; HYBZ_STEPS] = {names:?};\n")
}

/// Declares a structure, and a function that returns one of all zeros. A comment follows the fields that it describes.
fn structure(name: &str, doc: &str, mut tokens: &[&str]) -> String {
    let documented = |doc: &str| -> String {
        doc.lines().map(|line| format!("/// {}\n", line.trim().trim_start_matches("* "))).collect()
    };
    let mut fields = String::new();
    while let Some(end) = tokens.iter().position(|&token| token == ";") {
        let comment = tokens.get(end + 1).and_then(|next| next.strip_prefix("/*"));
        for (field, kind) in declared(&tokens[..end]) {
            fields += &format!("{}pub {field}: {kind},\n", documented(comment.unwrap_or_default()));
        }
        tokens = &tokens[end + 1 + usize::from(comment.is_some())..];
    }
    let exact = if fields.contains("f32") || fields.contains("hybz_round") { "" } else { ", Eq" };
    let zero = "// SAFETY: numbers and raw pointers may be zero.\nunsafe { std::mem::zeroed() }";
    documented(doc)
        + &format!("#[repr(C)]\n#[derive(Clone, Copy, Debug, PartialEq{exact})]\npub struct {name} {{\n{fields}}}\n")
        + &format!("impl Default for {name} {{\nfn default() -> Self {{\n{zero}\n}}\n}}\n")
}

/// The names and types in a declaration: of fields, of a parameter, or of a function without its parameters.
fn declared(tokens: &[&str]) -> Vec<(String, String)> {
    let words: Vec<&str> = tokens.iter().copied().filter(|word| !["const", "struct"].contains(word)).collect();
    let base = match words[0] {
        "float" => "f32",
        "int" => "i32",
        "char" => "std::ffi::c_char",
        "void" => "std::ffi::c_void",
        "size_t" => "usize",
        own if own.starts_with("hybz_") => own,
        // `int32_t` and `uint8_t`
        int => &int.replace("uint", "u").replace("int", "i").replace("_t", ""),
    };
    let pointer = if tokens[0] == "const" { "*const " } else { "*mut " };
    let each = |name: &[&str]| {
        let stars = name.iter().take_while(|&&word| word == "*").count();
        let sizes = name[stars + 1..].split(|&word| word == "]").filter(|size| !size.is_empty()).rev();
        let kind = sizes.fold(pointer.repeat(stars) + base, |kind, size| format!("[{kind}; {}]", size[1..].concat()));
        (name[stars].to_owned(), kind)
    };
    words[1..].split(|&word| word == ",").map(each).collect()
}

/// A function.
fn function(tokens: &[&str]) -> String {
    let open = tokens.iter().position(|&token| token == "(").expect("parameters");
    let parameters = tokens[open + 1..tokens.len() - 1].split(|&token| token == ",").flat_map(declared);
    let parameters: Vec<String> = parameters.map(|(name, kind)| format!("r#{name}: {kind}")).collect();
    let (name, kind) = declared(&tokens[..open]).remove(0);
    let result = if kind == "std::ffi::c_void" { String::new() } else { format!(" -> {kind}") };
    format!("pub fn {name}({}){result};\n", parameters.join(", "))
}
