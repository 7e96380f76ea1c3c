// Where the page finds the client when it is served: at ./sdk/, beside the page.
export * from "../../dist/index.js";
