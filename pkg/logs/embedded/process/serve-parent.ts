import { type FromChild, toPlainError } from './child-protocol.ts'

/** Sends messages to the parent process. */
export type Parent = {
  readonly respond: (id: number, value: unknown) => void
  readonly fail: (id: number, error: unknown) => void
  readonly notify: (notice: object) => void
}

export type Server<Message> = {
  readonly receive: (message: Message) => void
  /** Called when the parent has ended or disconnected. The process exits afterwards. */
  readonly close: () => void | Promise<void>
}

/**
 * Runs a child process: reads its settings, starts its server, and serves the parent until it
 * disconnects.
 *
 * @param start starts the server; its error is sent to the parent and ends the process
 */
export async function serveParent<Settings, Message>(
  start: (settings: Settings, parent: Parent) => Promise<Server<Message>>,
): Promise<void> {
  const send = (message: FromChild): Promise<void> =>
    new Promise(resolve => process.send?.(message, undefined, undefined, () => resolve()))
  const parent: Parent = {
    respond: (id, value) => void send({ kind: 'response', id, value }),
    fail: (id, error) => void send({ kind: 'failure', id, error: toPlainError(error) }),
    notify: notice => void send({ kind: 'notice', notice }),
  }
  // Ignored: a terminal sends these signals to the whole process group, but the parent decides when
  // this process ends.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)
  try {
    const server = await start(JSON.parse(process.argv[2] ?? ''), parent)
    process.on('message', message => server.receive(message as Message))
    process.once('disconnect', async () => {
      await server.close()
      process.exit(0)
    })
    await send({ kind: 'ready' })
    // The parent may have disconnected before the listener above was added.
    if (!process.connected) process.exit(0)
  } catch (error) {
    await send({ kind: 'broken', error: toPlainError(error) })
    process.exit(1)
  }
}
