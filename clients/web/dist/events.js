/** What a page is told while the client speaks. */
export {};
