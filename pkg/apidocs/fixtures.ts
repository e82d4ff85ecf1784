import { renderKube } from '../apierrors/render-kube.ts'
import { type Loopback, startLoopback, toExchange } from '../apirequest/fixtures.ts'
import type { DescribedSection } from '../openapi/document.ts'
import type { ApiDocument } from './documents.ts'

export const section: DescribedSection = {
  key: 'kapis/things.example.io/v1',
  title: 'Things & <others>',
  description: 'What there is.',
  paths: {
    '/kapis/things.example.io/v1/things': {
      get: {
        summary: 'Things',
        parameters: [{ name: 'q', in: 'query', description: '"a" & <b>', schema: { type: 'string' } }],
        responses: { 200: { description: 'They.' } },
        security: ['bearer'],
      },
    },
  },
}

export function serveApi(document: ApiDocument): Promise<Loopback> {
  return startLoopback(async (req, res) => {
    try {
      await document.handle(toExchange(req, res))
    } catch (error) {
      renderKube(res, error)
    }
  })
}
