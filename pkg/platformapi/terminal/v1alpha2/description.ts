import { operation } from '../../../openapi/kube-errors.ts'
import { type Paths, query, segment } from '../../../openapi/operation.ts'
import { oneOfTexts } from '../../../openapi/schema.ts'

/** OpenAPI descriptions of terminals, below `/kapis/terminal.<group domain>/v1alpha2`. */
export const terminalPaths = {
  '/namespaces/{namespace}/pods/{pod}/exec': {
    get: operation(
      'Opens a terminal in a container, as a WebSocket',
      { 101: { description: 'The WebSocket is open.' } },
      {
        description:
          'Clients send {"Op":"stdin","Data":text} and {"Op":"resize","Cols":number,"Rows":number}, and receive {"Op":"stdout","Data":text} and {"Op":"toast","Data":text}. Requires the permission to create pods/exec.',
        parameters: [
          segment('namespace', 'The name of the namespace.'),
          segment('pod', 'The name of the pod.'),
          query('container', 'Defaults to the first container.'),
          query(
            'shell',
            'Defaults to the first shell that the container contains.',
            oneOfTexts(['bash', 'sh']),
          ),
        ],
        errors: [404],
      },
    ),
  },
} satisfies Paths
