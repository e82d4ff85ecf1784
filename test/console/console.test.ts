import { join } from 'node:path'
import { expect } from 'chai'
import type { Browser } from 'playwright-core'
import { keepScreenshot, startChromium } from '../e2e/chromium.ts'
import { kubectlJson, kubectlOutput } from '../e2e/cluster.ts'
import { createUser } from '../e2e/oauth.ts'
import { setting } from '../e2e/run.ts'
import { type ConsoleServer, startConsole } from './console-server.ts'
import { lists, pages, project } from './pages.ts'
import { type Console, logIn } from './scene.ts'

// Tests KubeSphere's console 3.4.1, unchanged, from the perspective of its users. CONSOLE_DIR is a
// folder with a built console. Titles and labels are its English texts.

const password = 'Correct-Horse-1'

describe("KubeSphere's console 3.4.1", function () {
  this.timeout(180_000)
  let server: ConsoleServer
  let browser: Browser
  let admin: Console
  let pod = ''

  before(async () => {
    await kubectlOutput('apply', '-f', join(import.meta.dirname, 'project.yaml'))
    server = await startConsole()
    browser = await startChromium()
    admin = await logIn(browser, server.url, {
      username: setting('KAPIS_USER'),
      password: setting('KAPIS_PASSWORD'),
    })
    const names = await kubectlOutput('-n', 'shop', 'get', 'pods', '-l', 'app=web', '-o=name')
    pod = names.split('\n')[0]?.slice('pod/'.length) ?? ''
    await identifyContainer(pod)
  })
  after(async () => {
    await browser?.close()
    await server?.stop()
  })
  afterEach(async function () {
    if (this.currentTest?.state === 'failed') await keepScreenshot(admin.page, 'failed')
  })

  it('shows the dashboard after the login', () => admin.check('dashboard'))

  for (const [path, text] of Object.entries(pages)) {
    it(`shows ${path}`, async () => {
      await admin.visit(path)
      await admin.page.getByText(text).first().waitFor()
      await admin.check(path)
    })
  }

  for (const [path, [object, ...columns]] of Object.entries(lists)) {
    it(`lists and sorts ${path}`, async () => {
      await admin.visit(path)
      const row = admin.page.locator('td', { hasText: object }).first()
      await row.waitFor()
      for (const column of columns) {
        const header = admin.page.locator('th').filter({ has: admin.page.locator('a', { hasText: column }) })
        for (const order of ['Ascending', 'Descending']) {
          await header.locator('a').click()
          await header.getByText(order).click()
          await admin.settle()
          await row.waitFor()
        }
      }
      await admin.check(path)
    })
  }

  it('shows a pod, its container and its log', async () => {
    for (const page of ['', '/schedule', '/metadata', '/env', '/events', '/containers/web']) {
      await admin.visit(`${project}/pods/${pod}${page}`)
      await admin.page.getByText('web').first().waitFor()
    }
    await admin.visit(`${project}/pods/${pod}/containers/web/logs`)
    await admin.page.getByText('answered in').first().waitFor()
    await admin.check('pod-log')
  })

  it('opens a terminal in a container', async () => {
    const terminal = await admin.open(
      `/terminal/cluster/default/projects/shop/pods/${pod}/containers/web`,
      /"Op":"stdout".*[$#] /,
    )
    await terminal.type('echo "sum $((40 + 2))"\n', /"Op":"stdout".*sum 42/)
    await admin.check('pod-after-terminal')
  })

  for (const [path, found] of Object.entries({
    '/logquery': 'web',
    '/eventsearch': 'ScalingReplicaSet',
    '/auditingsearch': 'web',
  })) {
    it(`shows search results at ${path}`, async () => {
      await admin.visit(path)
      await admin.page.getByPlaceholder('Search').first().fill('web')
      await admin.page.keyboard.press('Enter')
      await admin.settle()
      await admin.page.getByText(found).first().waitFor()
      await admin.check(path)
    })
  }

  it('sets the quota of a project', async () => {
    await admin.visit(`${project}/base-info`)
    await admin.page.getByText('Manage', { exact: true }).click()
    await admin.page.getByText('Edit Project Quotas').click()
    await admin.settle()
    await admin.page.getByPlaceholder('Quota').first().fill('12')
    await admin.page.click('[data-test=modal-ok]')
    await admin.settle()
    await admin.page.getByText('12', { exact: true }).first().waitFor()
    await admin.check('quota')
    expect(await kubectlJson('-n', 'shop', 'get', 'resourcequota', 'shop')).to.have.nested.include({
      'spec.hard.count/pods': '12',
    })
  })

  it('creates a platform role', async () => {
    await admin.visit('/access/roles')
    await admin.page.click('[data-test=table-create]')
    await admin.page.fill('input[name="metadata.name"]', 'auditors')
    await admin.page.click('[data-test=modal-ok]')
    await admin.settle()
    await admin.page.locator('.checkbox').filter({ visible: true }).click()
    await keepScreenshot(admin.page, 'role-permissions')
    await admin.page.locator('[data-test=modal-ok]').last().click()
    await admin.page.locator('td', { hasText: 'auditors' }).waitFor()
    await admin.check('role-created')
    expect(await kubectlJson('get', 'clusterrole', 'auditors')).to.deep.include({
      rules: [{ apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list', 'watch'] }],
    })
  })

  it('creates a workspace', async () => {
    await admin.visit('/access/workspaces')
    await admin.page.click('[data-test=table-create]')
    await admin.page.fill('input[name="metadata.name"]', 'garden')
    await admin.page.getByRole('button', { name: 'Create' }).last().click()
    await admin.page.getByText('garden').first().waitFor()
    await admin.check('workspace-created')
    await kubectlOutput('get', 'workspaces.tenant.kubesphere.io', 'garden')
  })

  it('creates a project in that workspace', async () => {
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

  it('invites the user to the workspace, whose projects then list the user as a member', async () => {
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

  it('creates a department and adds the user', async () => {
    await admin.visit('/workspaces/garden/groups')
    await admin.page.getByText('Set Departments').click()
    await admin.page.fill('input[name="metadata.generateName"]', 'planners')
    await admin.page.getByRole('button', { name: 'OK' }).click()
    await admin.settle()
    await admin.page.getByRole('button', { name: 'Close' }).click()
    await admin.page.getByText(/^planners/).click()
    await admin.page.getByText('Not Assigned').click()
    await admin.settle()
    await admin.page.locator('[data-user=flora] button').click()
    await admin.page.getByRole('button', { name: 'OK' }).click()
    await admin.settle()
    await admin.page.getByText(/^Assigned/).click()
    await admin.page.locator('[data-user=flora]').waitFor()
    await admin.check('department')
  })

  it('makes the new user change the password, and shows only what the user may see', async () => {
    const first = await logIn(browser, server.url, { username: 'flora', password })
    expect(new URL(first.page.url()).pathname).to.equal('/password/confirm')
    await first.check('password-confirm')
    await first.page.fill('input[name=password]', `${password}-changed`)
    await first.page.getByRole('button', { name: 'Submit' }).click()
    // A first login ends with the page that changes the password.
    await first.page.waitForURL(({ pathname }) => pathname !== '/password/confirm')
    await first.close()
    const flora = await logIn(browser, server.url, { username: 'flora', password: `${password}-changed` })
    await flora.visit('/workspaces/garden/projects')
    await flora.page.getByText('beds').first().waitFor()
    await flora.visit('/garden/clusters/default/projects/beds/deployments')
    await flora.check('new-user')
    await flora.close()
  })

  it('lets an invited self-provisioner create a project, and administer it', async () => {
    await createUser({ username: 'sam', password })
    await admin.visit('/workspaces/garden/members')
    await admin.page.click('[data-test=table-invite]')
    const row = admin.page.locator('[data-user=sam]')
    await row.locator('button').click()
    await row.getByText('garden-self-provisioner', { exact: true }).click()
    await admin.page.click('[data-test=modal-ok]')
    await admin.page.locator('td', { hasText: 'garden-self-provisioner' }).waitFor()
    await admin.check('invited-self-provisioner')
    const sam = await logIn(browser, server.url, { username: 'sam', password })
    await sam.visit('/workspaces/garden/projects')
    await sam.page.click('[data-test=table-create]')
    await sam.page.fill('input[name="metadata.name"]', 'plot')
    await sam.page.click('[data-test=modal-ok]')
    await sam.page.locator('td', { hasText: 'plot' }).waitFor()
    await sam.check('self-provisioned')
    await sam.visit('/garden/clusters/default/projects/plot/members')
    await sam.page.locator('tr', { hasText: 'sam' }).getByText('admin').waitFor()
    await sam.check('self-provisioned-members')
    await sam.close()
    expect(await kubectlJson('get', 'namespace', 'plot')).to.have.nested.include({
      'metadata.annotations.kubesphere\\.io/creator': 'sam',
    })
  })

  it('disables the user', async () => {
    await admin.visit('/access/accounts')
    const row = admin.page.locator('tr', { hasText: 'flora@example.org' })
    await row.locator('button').click()
    await row.locator('[data-test=table-item-status]').click()
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

/**
 * Adds a container ID to a pod: without one, which these simulated nodes do not report, the console
 * shows no log.
 */
async function identifyContainer(pod: string): Promise<void> {
  const at = ['-n', 'shop', 'patch', 'pod', pod, '--subresource=status', '--type=json']
  const add = { op: 'add', path: '/status/containerStatuses/0/containerID', value: 'containerd://web' }
  await kubectlOutput(...at, '-p', JSON.stringify([add]))
}
