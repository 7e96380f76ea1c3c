/**
 * Where a server is, by its HTTP and by its WebSocket, and how a token gets there.
 *
 * Knows: URLs. Does not know: sockets, what a token allows.
 */
/** Where the WebSocket is, from the server's own address (or the page's, without one). */
export declare function streamUrl(url: string | URL | undefined, base: string | undefined): string;
/** Where a path of the server's HTTP is; `url` may be that of its WebSocket. */
export declare function httpUrl(url: string | URL | undefined, base: string | undefined, path: string): string;
/** How a token is presented where a browser lets nobody set a header: in the subprotocols, else in the URL. */
export declare function credentials(url: string, token: string | undefined): {
    url: string;
    protocols: string[];
};
