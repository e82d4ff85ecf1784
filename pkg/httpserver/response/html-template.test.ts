import { expect } from 'chai'
import { html } from './html-template.ts'

describe('html', () => {
  it('escapes everything except values that html itself has returned', () => {
    const hostile = `"><script>alert('x')</script>&`
    expect(html`<a title="${hostile}">${hostile}</a>`.text).to.equal(
      '<a title="&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;">&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;</a>',
    )
  })

  it('joins fragments, and omits undefined', () => {
    const items = ['a', '<'].map(name => html`<li>${name}</li>`)
    expect(html`<ul>${items}</ul>${undefined}${3}`.text).to.equal('<ul><li>a</li><li>&lt;</li></ul>3')
  })
})
