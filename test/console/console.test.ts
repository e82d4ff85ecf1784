import { join } from 'node:path'
import { expect } from 'chai'
import type { Browser } from 'playwright-core'
import { startChromium } from '../e2e/chromium.ts'
import { kubectlJson, kubectlOutput } from '../e2e/cluster.ts'
import { setting } from '../e2e/run.ts'
import { type ConsoleServer, startConsole } from './console-server.ts'
import { type Console, logIn } from './scene.ts'

// KubeSphere's console 3.4.1, unchanged, as its users see it. CONSOLE_DIR is a built one. Titles
// and labels are those of its English texts.

const password = 'Correct-Horse-1'
const project = '/retail/clusters/default/projects/shop'

/** Pages with a text that only the data of Kapis brings there. */
const pages: Readonly<Record<string, string>> = {
  '/access/workspaces': 'retail',
  '/access/accounts': 'admin@',
  '/access/accounts/admin': 'authenticated successfully',
  '/access/roles': 'platform-regular',
  '/access/roles/platform-admin': 'platform-admin',
  '/clusters/default/overview': 'Cluster',
  '/clusters/default/nodes': 'worker-1',
  '/clusters/default/nodes/worker-1': 'worker-1',
  '/clusters/default/components': 'System Components',
  '/clusters/default/projects': 'shop',
  '/clusters/default/customresources': 'iam.kubesphere.io',
  '/clusters/default/storageclasses': 'standard',
  '/clusters/default/volumes/PV': 'pv-1',
  '/clusters/default/members': 'Cluster Members',
  '/clusters/default/roles': 'cluster-viewer',
  '/clusters/default/base-info': 'Basic Information',
  '/workspaces/retail/overview': 'Workspace',
  '/workspaces/retail/projects': 'shop',
  '/workspaces/retail/roles': 'retail-viewer',
  '/workspaces/retail/members': 'Members',
  '/workspaces/retail/base-info': 'Retail',
  [`${project}/overview`]: 'shop',
  [`${project}/deployments/web`]: 'Desired: 2',
  [`${project}/deployments/web/revision-control`]: 'web-',
  [`${project}/deployments/web/events`]: 'ScalingReplicaSet',
  [`${project}/services/web`]: '80',
  [`${project}/ingresses/web`]: 'shop.example.org',
  [`${project}/configmaps/settings`]: 'colour',
  [`${project}/secrets/keys`]: 'key',
  [`${project}/volumes/data`]: 'standard',
  [`${project}/base-info`]: 'Basic Information',
  [`${project}/roles`]: 'operator',
  [`${project}/members`]: 'Members',
}

/** Lists with an object of the project, and the columns that sort them. */
const lists: Readonly<Record<string, readonly [object: string, ...columns: string[]]>> = {
  deployments: ['web', 'Name', 'Update Time'],
  statefulsets: ['db', 'Name', 'Creation Time'],
  daemonsets: ['agent', 'Name', 'Creation Time'],
  jobs: ['import', 'Name', 'Update Time'],
  cronjobs: ['nightly', 'Name', 'Creation Time'],
  pods: ['web-', 'Name', 'Update Time'],
  services: ['web', 'Name', 'Creation Time'],
  ingresses: ['web', 'Name', 'Creation Time'],
  configmaps: ['settings', 'Name', 'Creation Time'],
  secrets: ['keys', 'Name', 'Creation Time'],
  serviceaccounts: ['robot', 'Name', 'Creation Time'],
  volumes: ['data', 'Name', 'Creation Time'],
}

describe("KubeSphere's console 3.4.1", function () {
  this.timeout(180_000)
  let server: ConsoleServer
  let browser: Browser
  let admin: Console

  before(async () => {
    await kubectlOutput('apply', '-f', join(import.meta.dirname, 'project.yaml'))
    server = await startConsole()
    browser = await startChromium()
    admin = await logIn(browser, server.url, {
      username: setting('KAPIS_USER'),
      password: setting('KAPIS_PASSWORD'),
    })
  })
  after(async () => {
    await browser?.close()
    await server?.stop()
  })

  it('shows the dashboard after the login', () => admin.check('dashboard'))

  for (const [path, text] of Object.entries(pages)) {
    it(`shows ${path}`, async () => {
      await admin.visit(path)
      await admin.page.getByText(text).first().waitFor()
      await admin.check(path)
    })
  }

  for (const [list, [object, ...columns]] of Object.entries(lists)) {
    it(`lists and sorts ${list}`, async () => {
      await admin.visit(`${project}/${list}`)
      await admin.page.getByText(object).first().waitFor()
      for (const column of columns) {
        const header = admin.page.locator('th').filter({ has: admin.page.locator('a', { hasText: column }) })
        for (const order of ['Ascending', 'Descending']) {
          await header.locator('a').click()
          await header.getByText(order).click()
          await admin.settle()
          await admin.page.getByText(object).first().waitFor()
        }
      }
      await admin.check(`list-${list}`)
    })
  }

  it('shows a pod, its container and its log', async () => {
    const names = await kubectlOutput(...['-n', 'shop', 'get', 'pods', '-l', 'app=web'], '-o=name')
    const pod = names.split('\n')[0]?.slice('pod/'.length) ?? ''
    for (const page of [
      '',
      '/schedule',
      '/metadata',
      '/env',
      '/events',
      '/containers/web',
      '/containers/web/logs',
    ]) {
      await admin.visit(`${project}/pods/${pod}${page}`)
      await admin.page.getByText('web').first().waitFor()
    }
    await admin.check('pod-log')
  })

  for (const [path, found] of Object.entries({
    '/logquery': /log entries from/,
    '/eventsearch': /events\s+were collected today/,
    '/auditingsearch': /Search by Operator/,
  })) {
    it(`searches at ${path}`, async () => {
      await admin.visit(path)
      await admin.page.getByText(found).first().waitFor()
      await admin.page.getByPlaceholder('Search').first().fill('web')
      await admin.page.keyboard.press('Enter')
      await admin.check(path)
    })
  }

  it('creates a workspace', async () => {
    await admin.visit('/access/workspaces')
    await admin.page.click('[data-test=table-create]')
    await admin.page.fill('input[name="metadata.name"]', 'garden')
    await admin.page.getByRole('button', { name: 'Create' }).last().click()
    await admin.page.getByText('garden').first().waitFor()
    await admin.check('workspace-created')
    await kubectlOutput('get', 'workspaces.tenant.kubesphere.io', 'garden')
  })

  it('creates a project in it', async () => {
    await admin.visit('/workspaces/garden/projects')
    await admin.page.click('[data-test=table-create]')
    await admin.page.fill('input[name="metadata.name"]', 'beds')
    await admin.page.click('[data-test=modal-ok]')
    await admin.page.getByText('beds').first().waitFor()
    await admin.check('project-created')
    expect(await kubectlJson('get', 'namespace', 'beds')).to.have.nested.include({
      'metadata.labels.kubesphere\\.io/workspace': 'garden',
    })
  })

  it('creates a user', async () => {
    await admin.visit('/access/accounts')
    await admin.page.click('[data-test=table-create]')
    await admin.page.fill('input[name="metadata.name"]', 'flora')
    await admin.page.fill('input[name="spec.email"]', 'flora@example.org')
    await admin.page.fill('input[name="spec.password"]', password)
    await admin.page.click('[data-test=modal-ok]')
    await admin.page.getByText('flora@example.org').waitFor()
    await admin.check('user-created')
  })

  it('invites the user to the workspace, whose projects then have them as a member', async () => {
    await admin.visit('/workspaces/garden/members')
    await admin.page.click('[data-test=table-invite]')
    const flora = admin.page.locator('[data-user=flora]')
    await flora.locator('button').click()
    await flora.getByText('garden-viewer', { exact: true }).click()
    await admin.page.click('[data-test=modal-ok]')
    await admin.page.locator('td', { hasText: 'garden-viewer' }).waitFor()
    await admin.check('invited')
    await admin.visit('/garden/clusters/default/projects/beds/members')
    await admin.page.locator('tr', { hasText: 'flora' }).getByText('viewer').waitFor()
    await admin.check('member-of-project')
  })

  it('makes the new user change the password, and shows what they may see', async () => {
    const first = await logIn(browser, server.url, { username: 'flora', password })
    expect(new URL(first.page.url()).pathname).to.equal('/password/confirm')
    await first.check('password-confirm')
    await first.page.fill('input[name=password]', `${password}-changed`)
    await first.page.getByRole('button', { name: 'Submit' }).click()
    // Logins end with a change of the password.
    await first.page.waitForURL(({ pathname }) => pathname !== '/password/confirm')
    await first.close()
    const flora = await logIn(browser, server.url, { username: 'flora', password: `${password}-changed` })
    await flora.visit('/workspaces/garden/projects')
    await flora.page.getByText('beds').first().waitFor()
    await flora.visit('/garden/clusters/default/projects/beds/deployments')
    await flora.check('new-user')
    await flora.close()
  })

  it('disables the user', async () => {
    await admin.visit('/access/accounts')
    const row = admin.page.locator('tr', { hasText: 'flora@example.org' })
    await row.locator('button').click()
    await admin.page.locator('[data-test=table-item-status]').filter({ visible: true }).click()
    await row.getByText('Disabled').waitFor()
    await admin.check('user-disabled')
  })

  it('logs out', async () => {
    await admin.page.getByText(setting('KAPIS_USER'), { exact: true }).first().click()
    await admin.page.getByText('Log Out').click()
    await admin.page.waitForURL(({ pathname }) => pathname === '/login')
    await admin.check('logged-out')
  })
})
