// Commands that manage provider connections (rules V1, V5).
import { readFile } from 'node:fs/promises';
import { text as readAll } from 'node:stream/consumers';
import { OPEN_WORK_READS } from '../../application/ports/readModels/providers.ts';
import { type ConnectionId, parseId } from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection } from '../../domain/kernel/rejection.ts';
import type { ConnectionView } from '../../domain/presentation/connection.ts';
import { PROVIDER_CONNECTION } from '../../domain/providerConnection/aggregate.ts';
import { ORDER_MAX } from '../../domain/providerConnection/settingProblems.ts';
import {
  accepted,
  accountIdOf,
  byOf,
  type CliCommand,
  type CliInput,
  type CliOption,
  type CliResult,
  type CliWorld,
  optionNamed,
  UsageError,
} from '../cli/command.ts';
import { type Screen, table } from '../cli/output.ts';
import { PRESET_NAMES } from './connectionKinds.ts';

type Options = CliInput['options'];

/** Returns the id of a connection. Throws UsageError if the text is not one. */
export const connectionIdOf = (text: string): ConnectionId => {
  const id = parseId<ConnectionId>(text, PROVIDER_CONNECTION.idPrefix);
  if (id === null) throw new UsageError(`"${text}" is not a provider connection id (pc_…)`);
  return id;
};
const idOf = ({ args }: CliInput): ConnectionId => connectionIdOf(args[0] as string);

/** The options of settings whose names differ. */
const OPTION_OF: { readonly [param: string]: string } = {
  accountId: 'account',
  clientSecret: 'client-secret-file',
};
/** Returns the result. Throws UsageError with the message of a rejection, which starts with the option at fault. */
const acceptedSetting = <Reply>(done: Reply | Rejection): Reply => {
  const optionOf = (param: string): string => OPTION_OF[param] ?? optionNamed(param);
  if (!isRejection(done)) return done;
  return accepted<Reply>({ ...done, message: done.message.replaceAll(' allowPrivate', ' --allow-private') }, optionOf);
};

const contentOf = async (options: Options, name: string): Promise<string> => {
  const path = String(options[name]);
  try {
    return await readFile(path, 'utf8');
  } catch {
    throw new UsageError(`--${name}: ${path} can’t be read`);
  }
};
const optionalContent = (options: Options, name: string): Promise<string> | undefined =>
  options[name] === undefined ? undefined : contentOf(options, name);

/** Returns the secret without a line break at its end. */
const clientSecretOf = async (options: Options): Promise<string> => {
  const name = 'client-secret-file';
  const content = options[name] === '-' ? await readAll(process.stdin) : await contentOf(options, name);
  return content.replace(/\r?\n$/, '');
};

const orderOf = (text: string): number => {
  const order = /^\d{1,7}$/.test(text) ? Number(text) : Number.NaN;
  if (!(order <= ORDER_MAX)) throw new UsageError(`--order must be a whole number from 0 to ${ORDER_MAX}`);
  return order;
};
const methodsOf = (text: string): readonly 'PIX'[] => {
  if (text !== 'PIX') throw new UsageError('--methods must be PIX');
  return [text];
};

const SECRET_FILE = { description: 'file with the client secret; - reads standard input', required: true } as const;
const SETTINGS = {
  name: { description: 'a name for operators' },
  'base-url': { description: 'the base URL of the institution’s API' },
  'token-url': { description: 'the URL that issues access tokens' },
  'client-id': { description: 'the client id that the institution issued' },
  'pix-key': { description: 'the receiver’s Pix key' },
} as const;
const CERTIFICATES = {
  certificate: { description: 'file with the client certificate for mTLS (PEM)' },
  'private-key': { description: 'file with the private key of the certificate (PEM)' },
  ca: { description: 'file with the certificate authorities of the institution (PEM)' },
} as const;
const ORDER = { description: 'connections with a lower order are tried first; default 0' };
const METHODS = { description: 'the payment methods: PIX' };
const required = <Names extends string>(options: { readonly [N in Names]: CliOption }) =>
  Object.fromEntries(
    Object.entries<CliOption>(options).map(([name, one]) => [name, { ...one, required: true as const }]),
  );

const add: CliCommand = {
  name: 'provider add',
  summary: 'Add a connection to a bank or payment institution for live payments; prints its id and callback URL',
  args: [],
  options: {
    kind: { description: 'pix: the central bank’s API Pix', required: true, choices: ['pix'] },
    preset: {
      description: 'the institution’s preset',
      required: true,
      choices: PRESET_NAMES,
    },
    ...required(SETTINGS),
    'client-secret-file': SECRET_FILE,
    ...CERTIFICATES,
    account: { description: 'the only account that may use it; default: all accounts' },
    methods: METHODS,
    order: ORDER,
    'require-client-certificate': { description: 'accept callbacks only with a client certificate', flag: true },
    'allow-private': { description: 'allow private addresses and plain http; never in production', flag: true },
  },
  changes: 'always',
  run: async (world, { options }) => {
    const { account, methods = 'PIX', order = '0' } = options;
    const terms = {
      kind: 'pix' as const,
      preset: String(options['preset']),
      name: String(options['name']),
      baseUrl: String(options['base-url']),
      tokenUrl: String(options['token-url']),
      clientId: String(options['client-id']),
      pixKey: String(options['pix-key']),
      certificate: (await optionalContent(options, 'certificate')) ?? null,
      ca: (await optionalContent(options, 'ca')) ?? null,
      accountId: account === undefined ? null : accountIdOf(String(account)),
      methods: methodsOf(String(methods)),
      order: orderOf(String(order)),
      requireClientCertificate: options['require-client-certificate'] === true,
      allowPrivate: options['allow-private'] === true,
    };
    const privateKey = (await optionalContent(options, 'private-key')) ?? null;
    const secrets = { clientSecret: await clientSecretOf(options), privateKey };
    const done = acceptedSetting(await world.platform.addProviderConnection(terms, secrets, byOf(world)));
    const id = PROVIDER_CONNECTION.idPrefix + done.connectionId;
    return { json: { id, callbackUrl: done.callbackUrl }, text: `${id}\ncallback URL: ${done.callbackUrl}` };
  },
};

const HEAD = ['CONNECTION', 'NAME', 'STATUS', 'PRESET', 'ACCOUNT', 'ORDER', 'CIRCUIT', 'CERTIFICATE', 'OPEN'];
const certificateText = ({ certificate }: ConnectionView): string =>
  certificate === null ? 'none' : `${certificate.daysLeft} days left`;
const cells = (one: ConnectionView): readonly string[] => [
  one.id,
  one.name,
  one.status,
  one.preset,
  one.accountId ?? 'all',
  String(one.order),
  one.circuit,
  certificateText(one),
  String(one.openPayments + one.openPayouts),
];

const list: CliCommand = {
  name: 'provider list',
  summary: 'List provider connections, oldest first',
  args: [],
  options: {},
  reads: OPEN_WORK_READS,
  run: async (world) => {
    const connections = await world.platform.listConnections();
    const text = (screen: Screen) => table(screen, HEAD, connections.map(cells));
    return { json: { connections }, text: connections.length === 0 ? 'there is no provider connection' : text };
  },
};

const shownText = (view: ConnectionView) => (screen: Screen) =>
  table(
    screen,
    ['SETTING', 'VALUE'],
    Object.entries({
      ...view,
      accountId: view.accountId ?? 'all',
      methods: view.methods.join(','),
      certificate: certificateText(view),
    }).map(([name, value]) => [name, String(value ?? 'none')]),
  );
const shown = (view: ConnectionView): CliResult => ({ json: view, text: shownText(view) });

const ONE = { args: [{ name: 'connection' }], options: {} } as const;

const show: CliCommand = {
  ...ONE,
  name: 'provider show',
  summary: 'Show a provider connection without its secrets',
  reads: OPEN_WORK_READS,
  run: async (world, input) => shown(accepted(await world.platform.showConnection(idOf(input)))),
};

const YES_NO = ['yes', 'no'] as const;
const yes = (value: string | true | undefined): boolean | undefined =>
  value === undefined ? undefined : value === 'yes';

const changeOf = async (options: Options) => {
  const given = <T>(name: string, parse: (text: string) => T): T | undefined =>
    options[name] === undefined ? undefined : parse(String(options[name]));
  const read = (name: string): Promise<string> | null | undefined =>
    options[name] === 'none' ? null : optionalContent(options, name);
  const change = {
    name: given('name', String),
    baseUrl: given('base-url', String),
    tokenUrl: given('token-url', String),
    clientId: given('client-id', String),
    pixKey: given('pix-key', String),
    certificate: await read('certificate'),
    privateKey: await optionalContent(options, 'private-key'),
    ca: await read('ca'),
    accountId: given('account', (text) => (text === 'all' ? null : accountIdOf(text))),
    methods: given('methods', methodsOf),
    order: given('order', orderOf),
    requireClientCertificate: yes(options['require-client-certificate']),
    allowPrivate: yes(options['allow-private']),
  };
  type Change = { readonly [Name in keyof typeof change]?: Exclude<(typeof change)[Name], undefined> };
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined)) as Change;
};

const set: CliCommand = {
  ...ONE,
  name: 'provider set',
  summary: 'Change settings of a provider connection; the program uses them within about a second',
  options: {
    ...SETTINGS,
    certificate: {
      description: 'file with a new client certificate (PEM), together with --private-key; none removes it',
    },
    'private-key': CERTIFICATES['private-key'],
    ca: { description: 'file with the certificate authorities of the institution (PEM); none removes them' },
    account: { description: 'the only account that may use it, or all' },
    methods: METHODS,
    order: { description: 'connections with a lower order are tried first' },
    'require-client-certificate': { description: 'accept callbacks only with a client certificate', choices: YES_NO },
    'allow-private': { description: 'allow private addresses and plain http; never in production', choices: YES_NO },
  },
  changes: 'always',
  run: async (world, input) => {
    const change = await changeOf(input.options);
    if (Object.keys(change).length === 0) throw new UsageError('name at least one setting to change');
    return shown(acceptedSetting(await world.platform.changeProviderConnection(idOf(input), change, byOf(world))));
  },
};

const switching = (
  name: 'enable' | 'drain' | 'disable',
  to: 'enabled' | 'draining' | 'disabled',
  summary: string,
): CliCommand => ({
  ...ONE,
  name: `provider ${name}`,
  summary,
  changes: 'always',
  run: async (world, input) => {
    const view = accepted(await world.platform.switchProviderConnection(idOf(input), to, byOf(world)));
    return { json: view, text: `${view.id} is ${view.status}` };
  },
});

const remove: CliCommand = {
  ...ONE,
  name: 'provider remove',
  summary: 'Remove a provider connection that has no open work (exit code 1 otherwise)',
  changes: 'always',
  run: async (world, input) => {
    const connectionId = idOf(input);
    const id = PROVIDER_CONNECTION.idPrefix + connectionId;
    const done = await world.platform.removeProviderConnection(connectionId, byOf(world));
    if (isRejection(done) && done.code === 'connection_in_use')
      return { json: { id, removed: false, reason: done.message }, text: done.message, isBad: true };
    accepted(done);
    return { json: { id, removed: true }, text: `${id} is removed` };
  },
};

const rotateClientSecret: CliCommand = {
  ...ONE,
  name: 'provider rotate-client-secret',
  summary: 'Replace the client secret of a provider connection',
  options: { 'client-secret-file': SECRET_FILE },
  changes: 'always',
  run: async (world, input) => {
    const secret = await clientSecretOf(input.options);
    const done = await world.platform.rotateProviderClientSecret(idOf(input), secret, byOf(world));
    const view = acceptedSetting(done);
    return { json: view, text: `the client secret of ${view.id} is replaced` };
  },
};

const rotateCallbackSecret: CliCommand = {
  ...ONE,
  name: 'provider rotate-callback-secret',
  summary: 'Make a new callback URL; the previous one works for 24 hours, or until the next rotation',
  changes: 'always',
  run: async (world, input) => {
    const connectionId = idOf(input);
    const done = accepted(await world.platform.rotateProviderCallbackSecret(connectionId, byOf(world)));
    const json = { id: PROVIDER_CONNECTION.idPrefix + connectionId, ...done };
    const text = `new callback URL: ${done.callbackUrl}\nthe previous one works until ${done.previousUntil}; register the new one: provider webhook register ${json.id}`;
    return { json, text };
  },
};

const check: CliCommand = {
  ...ONE,
  name: 'provider check',
  summary: 'Check a provider connection: token, scopes, clock, certificate, a charge of one centavo, webhook',
  changes: 'always', // the charge, and the callback URL at the institution
  run: async (world, input, { print }) => {
    const line = ({ name, isOk, detail }: { name: string; isOk: boolean; detail: string }): string =>
      `${isOk ? 'ok  ' : 'BAD '}  ${name.padEnd(14)} ${detail}`;
    const onStep = input.isJson ? undefined : (step: Parameters<typeof line>[0]) => print(line(step));
    const steps = accepted(await world.platform.checkProviderConnection(idOf(input), onStep));
    const isBad = steps.some(({ isOk }) => !isOk);
    const json = { ok: !isBad, steps: steps.map(({ name, isOk: ok, detail }) => ({ name, ok, detail })) };
    return { json, text: '', isBad };
  },
};

const webhook = (
  name: 'register' | 'show',
  summary: string,
  ask: (world: CliWorld, id: ConnectionId) => ReturnType<CliWorld['platform']['showProviderWebhook']>,
): CliCommand => ({
  ...ONE,
  name: `provider webhook ${name}`,
  summary,
  ...(name === 'register' && { changes: 'always' as const }),
  run: async (world, input) => {
    const found = accepted(await ask(world, idOf(input)));
    const text =
      found.url === null
        ? 'none is registered'
        : `${found.url} (${found.isCurrent ? 'current' : 'not the current one'})`;
    return { json: found, text };
  },
});

export const providerCommands: readonly CliCommand[] = [
  add,
  list,
  show,
  set,
  switching('enable', 'enabled', 'Let a provider connection take new payments'),
  switching('drain', 'draining', 'Send no new payments to a provider connection; everything else continues'),
  switching('disable', 'disabled', 'Stop all calls to a provider connection; its payments wait'),
  remove,
  rotateClientSecret,
  rotateCallbackSecret,
  check,
  webhook('register', 'Register the callback URL at the institution', ({ platform }, id) =>
    platform.registerProviderWebhook(id),
  ),
  webhook('show', 'Show the callback URL registered at the institution', ({ platform }, id) =>
    platform.showProviderWebhook(id),
  ),
];
