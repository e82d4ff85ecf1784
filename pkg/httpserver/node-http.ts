/**
 * node:http loaded without `import`: an import reads every export of a module, and one of them,
 * WebSocket, loads a copy of undici, which takes 14 MB and a tenth of the startup time.
 */
export const http = process.getBuiltinModule('node:http')
