/** How a program asks this server for speech. Knows: how each client is called. Does not know: the page. */
const CURL = "# curl, mp3";
const PYTHON = "# Python: pip install PATH/TO/clients/python";
const WEB = "// a web page, within a click";
/** Three short programs for the server at that address, and for that voice where one was chosen. */
export function programs(server, voice) {
    const named = JSON.stringify(voice);
    const query = voice === undefined ? "" : `&voice=${encodeURIComponent(voice)}`;
    const keyword = voice === undefined ? "" : `voice=${named}, `;
    const member = voice === undefined ? "" : `, voice: ${named}`;
    return [
        [CURL, `curl -f "${server}v1/speak?text=Hello+there${query}" --output hello.mp3`],
        [PYTHON, "from cosystream import say_to_file", `say_to_file("Hello there.", "hello.wav", ${keyword}url="${server}")`],
        [WEB, `import { Speaker } from "${server}sdk/index.js";`, `new Speaker({ url: "${server}"${member} }).speak("Hello there.");`],
    ]
        .map((lines) => lines.join("\n"))
        .join("\n\n");
}
