import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { renderChartYaml } from './chart/chart-yaml.ts'
import { repository } from './controlplane/settings.ts'

// charts/kapis is what was made of the manifests as they are. Its digest says so without kubectl; test/integration/chart.test.ts
// makes it again and compares.

const folder = join(repository, 'charts/kapis')
const read = (name: string) => readFileSync(join(folder, name), 'utf8')
const made = globSync(['templates/*.yaml', 'templates/_config.tpl'], { cwd: folder })
const wanted = renderChartYaml(new Map(made.map(name => [name, read(name)])))
if (read('Chart.yaml') !== wanted) {
  console.error('charts/kapis is not what manifests and package.json say: run make update')
  process.exitCode = 1
}
