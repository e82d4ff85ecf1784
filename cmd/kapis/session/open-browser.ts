import { spawn } from 'node:child_process'
import type { Io } from '../command.ts'

/**
 * Opens a URL with the first command of BROWSER, or with the opener of the desktop. The URL
 * replaces `%s`, or is the last argument. No shell is involved. A missing program is ignored, since
 * the URL is also printed.
 */
export function openBrowser(url: URL, { env }: Io): void {
  const usual = process.platform === 'darwin' ? 'open' : 'xdg-open'
  const [command = usual, ...args] = (env.BROWSER ?? '').split(':', 1).join('').split(' ').filter(Boolean)
  const placed = args.map(arg => arg.replaceAll('%s', () => url.href))
  const isPlaced = args.some(arg => arg.includes('%s'))
  const child = spawn(command, isPlaced ? placed : [...args, url.href], { stdio: 'ignore', detached: true })
  child.on('error', () => undefined)
  child.unref()
}
