/**
 * node:http as it is, but not by `import`: that reads every member of a module of Node.js, and one of them, WebSocket, loads a
 * copy of undici, which takes 14 MB and a tenth of the start of a program. Types are imported as ever.
 */
export const http = process.getBuiltinModule('node:http')
