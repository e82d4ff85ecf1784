import { itTakesLogs } from './log-ingest-cases.ts'
import { itAnswersQuestions } from './log-query-cases.ts'
import { itShowsReadersTheirs } from './log-reader-cases.ts'
import { createLogScene } from './log-scene.ts'

/**
 * The log API as its users meet it.
 *
 * @param title of the store behind it
 * @param base kapis-apiserver that has the store, once it is there
 */
export function describeLogs(title: string, base: () => string): void {
  describe(`logs in ${title}`, function () {
    this.timeout(120_000)

    const scene = createLogScene(base)
    before(scene.setUp)
    after(scene.tearDown)

    itTakesLogs(scene, base)
    itAnswersQuestions(scene)
    itShowsReadersTheirs(scene, base)
  })
}
