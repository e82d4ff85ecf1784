import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { identify, type ProcessId } from './process-id.ts'
import type { Component, ProcessRecords } from './records.ts'

/** Starts and records a process in its own group, so that Ctrl-C does not reach it. */
export async function launch(
  part: Component,
  records: ProcessRecords,
): Promise<{ child: ChildProcess; id: ProcessId }> {
  const log = openSync(part.log, 'a', 0o600)
  try {
    const child = spawn(part.command, part.args, {
      cwd: part.cwd,
      env: part.env,
      detached: true,
      stdio: ['ignore', log, log],
    })
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve)
      child.once('error', error => reject(new Error(`${part.name} cannot be started: ${error.message}`)))
    })
    const id = identify(child.pid ?? 0)
    records.setComponent(part)
    records.setPid(part.name, id)
    return { child, id }
  } finally {
    closeSync(log)
  }
}
