/** What a page gives the client and what comes of it: options, results, figures. */
export {};
