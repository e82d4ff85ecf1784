// JSON.parse source text access (ECMAScript proposal, stage 4; in Node.js since 22), which the compiler's library lacks.
interface JSON {
  rawJSON(text: string): object
}
