/**
 * node:http, loaded without `import`: an import evaluates all exports of a module. One of them,
 * WebSocket, loads a copy of undici, which takes 14 MB and a tenth of the startup time.
 */
export const http = process.getBuiltinModule('node:http')
