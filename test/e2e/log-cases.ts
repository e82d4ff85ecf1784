import { itLimitsReaders } from './log-access-cases.ts'
import { itTakesLogs } from './log-ingest-cases.ts'
import { itQueries } from './log-query-cases.ts'
import { createLogScene } from './log-scene.ts'

/**
 * Defines tests of the log API.
 *
 * @param title name of the store
 * @param base returns the URL of kapis-apiserver with the store
 */
export function describeLogs(title: string, base: () => string): void {
  describe(`logs in ${title}`, function () {
    this.timeout(120_000)

    const scene = createLogScene(base)
    before(scene.setUp)
    after(scene.tearDown)

    itTakesLogs(scene, base)
    itQueries(scene)
    itLimitsReaders(scene, base)
  })
}
