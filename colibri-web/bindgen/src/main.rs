//! `colibri-web-bindgen IN.wasm OUT web|nodejs`: writes the JavaScript around a wasm file that uses wasm-bindgen. It is what the
//! well-known command does, without the rest of it, and so builds in a minute.

use std::process::ExitCode;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [input, folder, target] = arguments.as_slice() else {
        eprintln!("usage: colibri-web-bindgen IN.wasm OUT web|nodejs");
        return ExitCode::from(2);
    };
    let mut bindgen = Bindgen::new();
    bindgen.omit_default_module_path(false);
    let chosen = match target.as_str() {
        "web" => bindgen.web(true),
        _ => bindgen.nodejs_module(true),
    };
    match chosen.and_then(|bindgen| bindgen.input_path(input).typescript(false).generate(folder)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:?}");
            ExitCode::FAILURE
        }
    }
}
