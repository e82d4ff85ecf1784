import { type Html, html } from '../httpserver/response/html-template.ts'
import { toCurl } from '../openapi/curl.ts'
import { type DescribedSection, toOperationId } from '../openapi/document.ts'
import {
  type ApiResponse,
  type Content,
  type Method,
  methods,
  type Operation,
  type Parameter,
  type Scheme,
} from '../openapi/operation.ts'
import { rangeText, schemaText } from '../openapi/schema-text.ts'

const schemeNames: Readonly<Record<Scheme, string>> = {
  bearer: 'an access token',
  clientCertificate: 'a client certificate',
  password: 'user name and password by HTTP Basic',
  client: 'an OAuth client, by HTTP Basic or form',
  browser: 'the login of a browser',
  none: 'none',
}

export function sectionId({ key }: Pick<DescribedSection, 'key'>): string {
  return key.replaceAll(/[^A-Za-z0-9]+/g, '-')
}

/** Renders a section of the page, with a <details> element for each operation. */
export function sectionHtml(section: DescribedSection): Html {
  const document = `/openapi/v3/${section.key}`
  const operations = Object.entries(section.paths).flatMap(([path, row]) =>
    methods.flatMap(method => {
      const operation = row[method]
      return operation === undefined ? [] : [operationHtml(method, path, operation)]
    }),
  )
  return html`<section aria-labelledby="${sectionId(section)}">
<h2 id="${sectionId(section)}">${section.title}</h2>
<p>${section.description} <a href="${document}">${document}</a></p>
${operations}</section>
`
}

function operationHtml(method: Method, path: string, operation: Operation): Html {
  const { summary, description, parameters = [], body, responses, security } = operation
  return html`<details id="${toOperationId(method, path)}">
<summary><span class="method ${method}">${method.toUpperCase()}</span> <code>${path}</code> <span class="what">${summary}</span></summary>
${description === undefined ? undefined : html`<p>${description}</p>\n`}<p>Authentication: ${security.map(scheme => schemeNames[scheme]).join('; or ')}.</p>
${parameters.length === 0 ? undefined : parametersHtml(parameters)}${body === undefined ? undefined : html`<h3>Body</h3>\n${contentHtml(body.content)}`}<h3>Responses</h3>
<dl>
${Object.entries(responses).map(([code, response]) => responseHtml(code, response))}</dl>
<h3>Try it</h3>
<pre tabindex="0"><code>${toCurl(method, path, operation)}</code></pre>
</details>
`
}

function parametersHtml(parameters: readonly Parameter[]): Html {
  return html`<h3>Parameters</h3>
<dl>
${parameters.map(
  ({ name, in: place, required, description, schema }) =>
    html`<dt><code>${name}</code> <span class="quiet">${place}${required === true ? ', required' : ''}; ${rangeText(schema)}</span></dt>
<dd>${description}</dd>
`,
)}</dl>
`
}

function responseHtml(code: string, { description, content = {} }: ApiResponse): Html {
  return html`<dt><code>${code}</code></dt>
<dd>${description}
${contentHtml(content)}</dd>
`
}

function contentHtml(content: Content): Html {
  const bodies = Map.groupBy(Object.entries(content), ([, { schema }]) => schemaText(schema))
  return html`${[...bodies].map(
    ([text, types]) =>
      html`<p class="body"><span class="quiet">${types.map(([type]) => type).join(', ')}</span> <code>${text}</code></p>\n`,
  )}`
}
