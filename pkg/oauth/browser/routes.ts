import { createConsent } from '../authorize/consent-endpoint.ts'
import { createAuthorize } from '../authorize/endpoint.ts'
import { createDeviceAuthorization } from '../device/authorization-endpoint.ts'
import { createDevicePages } from '../device/page-endpoint.ts'
import { pageAssets } from '../pages/page.ts'
import type { Methods } from '../server/routes.ts'
import type { BrowserOptions } from './dependencies.ts'
import { createLogin, createLoginPage } from './login-endpoint.ts'
import { createPasswordChange } from './password-endpoint.ts'
import { createLinking, createRegistration } from './registration-endpoint.ts'
import { createFactorsChange, createFactorsPage } from './second-factor/settings-endpoint.ts'
import {
  createFactorCheck,
  createPasskeyEnrolment,
  createTotpEnrolment,
} from './second-factor/step-endpoint.ts'
import { createLoggedOutPage, createSessionEnd, createSessionPage } from './session-endpoint.ts'

/** Returns the routes of the pages and of the authorization endpoint. */
export function browserRoutes(options: BrowserOptions): Readonly<Record<string, Methods>> {
  const authorize = createAuthorize(options)
  const device = createDevicePages(options)
  return {
    '/oauth/authorize': { get: authorize, post: authorize },
    '/oauth/consent': { post: createConsent(options) },
    '/oauth/login': { get: createLoginPage(options), post: createLogin(options) },
    '/oauth/factor': { post: createFactorCheck(options) },
    '/oauth/factor/totp': { post: createTotpEnrolment(options) },
    '/oauth/factor/passkey': { post: createPasskeyEnrolment(options) },
    '/oauth/factors': { get: createFactorsPage(options), post: createFactorsChange(options) },
    '/oauth/password': { post: createPasswordChange(options) },
    '/oauth/register': { post: createRegistration(options) },
    '/oauth/link': { post: createLinking(options) },
    '/oauth/device': { get: device.show, post: device.decide },
    '/oauth/device_authorization': { post: createDeviceAuthorization(options) },
    '/oauth/session': { get: createSessionPage(options), post: createSessionEnd(options) },
    '/oauth/logged-out': { get: createLoggedOutPage(options) },
    ...Object.fromEntries(pageAssets.map(({ path, handler }) => [path, { get: handler }])),
  }
}
