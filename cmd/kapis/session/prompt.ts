import type { Io } from '../command.ts'

/** Asks for one password. @throws Error when it is empty, or the question was interrupted */
export type AskPassword = (question: string) => Promise<string>

const enter = new Set(['\r', '\n', '\u0004'])
const erase = new Set(['\u007f', '\b'])
const interrupt = '\u0003'

/** Passwords without an echo at a terminal, or as the lines of what is piped in; never from the command line. */
export function createPrompt(io: Io): AskPassword {
  let piped: Promise<string[]> | undefined
  return async question => {
    if (!process.stdin.isTTY) piped ??= readLines()
    const password = piped === undefined ? await readUnseen(question, io) : (await piped).shift()
    if (password === undefined || password === '') throw new Error('no password was given')
    return password
  }
}

async function readLines(): Promise<string[]> {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8').split(/\r?\n/)
}

function readUnseen(question: string, io: Io): Promise<string> {
  const { stdin } = process
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  let text = ''
  io.err(question)
  stdin.setRawMode(true)
  stdin.setEncoding('utf8')
  stdin.resume()
  const read = (keys: string) => {
    for (const key of keys) {
      if (key === interrupt) return reject(new Error('interrupted'))
      if (enter.has(key)) return resolve(text)
      text = erase.has(key) ? text.slice(0, -1) : text + key
    }
  }
  stdin.on('data', read)
  return promise.finally(() => {
    stdin.off('data', read)
    stdin.setRawMode(false)
    stdin.pause()
    io.err('\n')
  })
}
