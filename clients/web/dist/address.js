/**
 * Where a server is, by its HTTP and by its WebSocket, and how a token gets there.
 *
 * Knows: URLs. Does not know: sockets, what a token allows.
 */
import { SUBPROTOCOL } from "./protocol.js";
const STREAM_PATH = "/v1/stream";
/** What a subprotocol may be made of; a token with other characters goes into the query. */
const PROTOCOL_TOKEN = /^[\w!#$%&'*+\-.^`|~]+$/;
/** Where the WebSocket is, from the server's own address (or the page's, without one). */
export function streamUrl(url, base) {
    const stream = at(url, base, STREAM_PATH);
    stream.protocol = stream.protocol.replace(/^http/, "ws");
    return stream.href;
}
/** Where a path of the server's HTTP is; `url` may be that of its WebSocket. */
export function httpUrl(url, base, path) {
    const http = at(url, base, path);
    http.protocol = http.protocol.replace(/^ws/, "http");
    return http.href;
}
/** How a token is presented where a browser lets nobody set a header: in the subprotocols, else in the URL. */
export function credentials(url, token) {
    if (token === undefined)
        return { url, protocols: [SUBPROTOCOL] };
    if (PROTOCOL_TOKEN.test(token))
        return { url, protocols: [SUBPROTOCOL, `token.${token}`] };
    const withToken = new URL(url);
    withToken.searchParams.set("token", token);
    return { url: withToken.href, protocols: [SUBPROTOCOL] };
}
function at(url, base, path) {
    const server = new URL(url ?? "./", base);
    const root = server.pathname.endsWith(STREAM_PATH)
        ? server.pathname.slice(0, -STREAM_PATH.length)
        : server.pathname.replace(/\/[^/]*$/, "");
    server.pathname = root + path;
    server.hash = "";
    return server;
}
