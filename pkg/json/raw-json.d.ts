// JSON.parse source text access (ECMAScript proposal, stage 4; Node.js 22 and later), which is
// missing in the library of the compiler.
interface JSON {
  rawJSON(text: string): object
}
