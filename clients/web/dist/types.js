/** What a page gives the client and what it gets: options, events, results. */
export {};
