// The operators’ pages as a browser without JavaScript gets them.
import { expect } from 'chai';
import { PLATFORM_PAGES } from '../../http/kernel/callers.ts';
import { cookieOf, formOf, ownForm } from './browser.ts';
import type { Reply, TestGateway, TestUser } from './gateway.ts';

const HTML = { accept: 'text/html', 'accept-language': 'en' };

export class OperatorsPages {
  readonly gateway: TestGateway;
  readonly operator: TestUser;
  readonly bearer: { readonly authorization: string };
  readonly #owner: { readonly authorization: string };

  private constructor(
    gateway: TestGateway,
    operator: TestUser,
    bearer: OperatorsPages['bearer'],
    owner: OperatorsPages['bearer'],
  ) {
    this.gateway = gateway;
    this.operator = operator;
    this.bearer = bearer;
    this.#owner = owner;
  }

  static async open(gateway: TestGateway): Promise<OperatorsPages> {
    const operator = await gateway.addUser('OPERATOR');
    const bearer = await gateway.logIn('OPERATOR', operator);
    return new OperatorsPages(gateway, operator, bearer, await gateway.logIn('OWNER'));
  }

  show(path: string): Promise<Reply<unknown>> {
    return this.#call('GET', path, { headers: cookieOf(this.bearer) });
  }

  send(path: string, fields: Readonly<Record<string, string>> = {}): Promise<Reply<unknown>> {
    return this.#call('POST', path, { ...ownForm(this.bearer, fields), headers: cookieOf(this.bearer) });
  }

  /** Returns the text of a page. Expects success. */
  async text(path: string): Promise<string> {
    const { status, text } = await this.show(path);
    expect(status, text).to.equal(200);
    expect(text.length, path).to.be.below(60_000);
    return text;
  }

  /** Sends the form and expects a redirect to `place` that reports `done`. Before that, expects 403 for everybody else. */
  async act(path: string, fields: Readonly<Record<string, string>>, place: string, done: string): Promise<void> {
    await this.refusesOthers(path, fields);
    const { status, headers, text } = await this.send(path, fields);
    expect([status, headers.get('location')], text).to.deep.equal([303, `${PLATFORM_PAGES}${place}?done=${done}`]);
  }

  /** Sends the form, and expects the page again with `words` in an alert. Returns the page. */
  async refused(path: string, fields: Readonly<Record<string, string>>, words: string): Promise<string> {
    const { status, text } = await this.send(path, fields);
    expect(status, text).to.equal(422);
    expect(text).to.include('role="alert"').and.include(words);
    return text;
  }

  /** Expects 403 for a forged form and for a form of a merchant’s OWNER. */
  async refusesOthers(path: string, fields: Readonly<Record<string, string>> = {}): Promise<void> {
    const cookie = cookieOf(this.bearer);
    const others = [
      { ...formOf({ ...fields, csrf: '' }), headers: cookie },
      { ...ownForm(this.bearer, fields), headers: { ...cookie, 'sec-fetch-site': 'cross-site' } },
      { ...ownForm(this.#owner, fields), headers: cookieOf(this.#owner) },
    ];
    for (const sent of others) expect((await this.#call('POST', path, sent)).status).to.equal(403);
  }

  #call(method: string, path: string, { headers, ...sent }: { readonly headers: object; readonly raw?: unknown }) {
    return this.gateway.call<unknown>(method, PLATFORM_PAGES + path, {
      key: null,
      ...(sent as object),
      headers: { ...HTML, ...headers },
    });
  }
}
