// Part of the ECMAScript proposal "JSON.parse source text access" (stage 4; Node.js 22 and later).
// TypeScript's library does not declare it yet.
interface JSON {
  rawJSON(text: string): object
}
