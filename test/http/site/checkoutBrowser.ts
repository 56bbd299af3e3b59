import { setImmediate as turn } from 'node:timers/promises';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { checkoutAsset } from '../../../http/site/checkout/assets.ts';
import { renderCheckout } from '../../../http/site/checkout/renderCheckout.ts';
import { type CheckoutChanges, checkoutViewOf } from './checkoutView.ts';

// Runs checkout.js on the attributes and templates of a rendered page, in a minimal browser. The test controls time, stream, answers and
// clicks.

type Listener = (event: Record<string, unknown>) => unknown;

class Element {
  readonly dataset: Record<string, string> = {};
  readonly attributes = new Set<string>();
  readonly found = new Map<string, Element>();
  readonly lists = new Map<string, readonly Element[]>();
  readonly around = new Map<string, Element>();
  readonly listeners = new Map<string, Listener>();
  textContent = '';
  hidden = false;
  removed = false;
  focused = false;
  /** Number of times its content was replaced. */
  entered = 0;
  querySelector(selector: string): Element | null {
    return this.found.get(selector) ?? null;
  }
  querySelectorAll(selector: string): readonly Element[] {
    return this.lists.get(selector) ?? [];
  }
  closest(selector: string): Element | null {
    return this.around.get(selector) ?? null;
  }
  addEventListener(type: string, listener: Listener): void {
    this.listeners.set(type, listener);
  }
  toggleAttribute(name: string, on: boolean): void {
    this.attributes[on ? 'add' : 'delete'](name);
  }
  removeAttribute(name: string): void {
    this.attributes.delete(name);
  }
  contains(other: unknown): boolean {
    return [...this.found.values()].includes(other as Element);
  }
  replaceChildren(content: Element): void {
    this.entered += 1;
    for (const tag of ['h2', 'p']) this.found.set(tag, content.found.get(tag)!);
  }
  focus(): void {
    this.focused = true;
  }
  remove(): void {
    this.removed = true;
  }
}

export class Stream {
  static readonly CONNECTING = 0;
  static readonly OPEN = 1;
  static readonly CLOSED = 2;
  static readonly all: Stream[] = [];
  readonly url: string;
  readyState: number = Stream.OPEN;
  listener: Listener = () => undefined;
  constructor(url: string) {
    this.url = url;
    Stream.all.push(this);
  }
  addEventListener(type: string, listener: Listener): void {
    expect(type).to.equal('status');
    this.listener = listener;
  }
  close(): void {
    this.readyState = Stream.CLOSED;
  }
}

export const START = '2026-11-21T13:00:00.000Z';
export const DUE = '2026-11-21T13:30:00.000Z';
/** The device’s clock is wrong by years, because only the account’s clock may count. */
const DEVICE_START = Date.parse('2020-01-01T00:00:00.000Z');
export const RAW_ID = '01hzy3v7q9k2m4n6p8r0s2t4v6';
export const CODE = '00020126';

const kebabToCamel = (name: string): string => name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());

/** Returns the elements of the rendered page by the selectors that the script uses. */
const documentOf = (html: string) => {
  const body = new Element();
  for (const [, name, value] of /<body(.*)>/.exec(html)![1]!.matchAll(/data-([a-z-]+)="(.*?)"/g)) {
    body.dataset[kebabToCamel(name!)] = value!;
  }
  for (const [, state, inside] of html.matchAll(/<template data-for="(.*?)">(.*?)<\/template>/gs)) {
    const content = new Element();
    for (const tag of ['h2', 'p']) {
      const textContent = new RegExp(`<${tag}>(.*)</${tag}>`).exec(inside!)![1]!;
      content.found.set(tag, Object.assign(new Element(), { textContent }));
    }
    body.found.set(`[data-for="${state}"]`, Object.assign(new Element(), { content: { cloneNode: () => content } }));
  }
  for (const part of ['panel', 'pay', 'clock', 'offline', 'copy', 'code', 'note']) {
    const elements = [...html.matchAll(new RegExp(`<[^>]* data-${part}(?:="(.*?)")?[ >]`, 'g'))].map(([, value]) =>
      Object.assign(new Element(), { dataset: { [part]: value ?? '' } }),
    );
    body.lists.set(`[data-${part}]`, elements);
    if (elements[0]) body.found.set(`[data-${part}]`, elements[0]);
  }
  [...html.matchAll(/<[^>]* data-clock[^>]*>/g)].forEach(([tag], i) => {
    if (tag.includes(' data-days')) body.lists.get('[data-clock]')![i]!.dataset['days'] = '';
  });
  for (const clock of body.lists.get('[data-clock]')!) {
    if (clock.dataset['clock'] !== '') clock.around.set('[data-method]', new Element());
  }
  body.lists.get('[data-copy]')!.forEach((copy, i) => {
    const block = new Element();
    for (const part of ['code', 'note']) block.found.set(`[data-${part}]`, body.lists.get(`[data-${part}]`)![i]!);
    copy.around.set('[data-copying]', block);
  });
  body.found.set('.amount', Object.assign(new Element(), { textContent: 'R$ 1,00' }));
  const pay = body.found.get('[data-pay]');
  if (pay) pay.found.set('[data-copy]', body.found.get('[data-copy]')!);
  for (const code of body.lists.get('[data-code]')!) code.textContent = CODE;
  for (const note of body.lists.get('[data-note]')!) Object.assign(note.dataset, { done: 'done', failed: 'failed' });
  body.found.get('[data-offline]')!.hidden = true;
  return body;
};

/** Opens a rendered page and runs the script in it. */
export const openCheckout = (changes: CheckoutChanges = {}) => {
  const view = checkoutViewOf({ rawId: RAW_ID, brCode: CODE, expiresAt: DUE, now: START, ...changes });
  const body = documentOf(renderCheckout(view));
  let reloads = 0;
  const answers: {
    url: string;
    answer(message: object | null, status?: number, retryAfter?: string): Promise<void>;
  }[] = [];
  const timeouts: { run(): void; milliseconds: number }[] = [];
  const clipboard = { allowed: true, text: '' };
  const selection: unknown[] = [];
  const root = Object.assign(new Element(), {
    title: '',
    visibilityState: 'visible',
    activeElement: null as unknown,
    execCommand: (command: string) => command === 'copy' && clipboard.allowed,
  });
  root.found.set('[data-live]', body);
  const window = new Element();
  let elapsed = 0;
  let tick: (() => void) | null = null;
  Stream.all.length = 0;
  runInNewContext(checkoutAsset('checkout.js')!.body.toString(), {
    document: root,
    window,
    location: { reload: () => (reloads += 1) },
    Date: { now: () => DEVICE_START + elapsed, parse: Date.parse },
    performance: { now: () => elapsed },
    EventSource: Stream,
    AbortController,
    CSS: { escape: (text: string) => text.replace(/\W/g, '\\$&') },
    getSelection: () => ({ selectAllChildren: (element: unknown) => selection.push(element) }),
    navigator: {
      clipboard: {
        writeText: async (text: string) => {
          if (!clipboard.allowed) throw new Error('not allowed');
          clipboard.text = text;
        },
      },
    },
    fetch: (url: string) => {
      const { promise, resolve, reject } = Promise.withResolvers<object>();
      const answer = async (message: object | null, status = 200, retryAfter: string | null = null) => {
        if (message === null) reject(new Error('no network'));
        else resolve({ ok: status < 400, status, headers: { get: () => retryAfter }, json: async () => message });
        await turn();
      };
      answers.push({ url, answer });
      return promise;
    },
    setInterval: (run: () => void, milliseconds: number) => {
      expect(milliseconds).to.equal(1_000);
      tick = run;
      return 1;
    },
    clearInterval: () => {
      tick = null;
    },
    setTimeout: (run: () => void, milliseconds: number) => timeouts.push({ run, milliseconds }),
    clearTimeout: () => undefined,
  });
  const find = (part: string) => body.found.get(`[data-${part}]`)!;
  return {
    body,
    root,
    window,
    find,
    answers,
    timeouts,
    clipboard,
    selection,
    state: () => body.dataset['state'],
    all: (part: string) => body.lists.get(`[data-${part}]`)!,
    reloads: () => reloads,
    ticking: () => tick !== null,
    pass: (seconds: number) => {
      for (let second = 0; second < seconds; second++) {
        elapsed += 1_000;
        tick?.();
      }
    },
    say: (message: object) => Stream.all.at(-1)!.listener({ data: JSON.stringify(message) }),
  };
};
