// The samples of an operation: a call with curl, and the recorded response.
import { html, type Markup } from '../../html.ts';
import { codeBlock } from '../guides.ts';
import type { Content, Operation } from './model.ts';

export const JSON_TYPE = 'application/json';

export const pretty = (value: unknown): string => JSON.stringify(value, null, 2);

export const exampleOf = (content: Content | undefined): unknown => content?.[JSON_TYPE]?.example;

/** Returns the successful responses with their statuses. */
export const successes = ({ responses }: Operation) =>
  Object.entries(responses).filter(([status]) => status.startsWith('2'));

/** Returns a path parameter as a shell variable, because curl would expand braces. */
const variable = (name: string): string => `$${name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase()}`;

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const bodyOptions = ({ requestBody }: Operation): readonly string[] => {
  if (requestBody === undefined) return [];
  const [type = ''] = Object.keys(requestBody.content);
  if (type !== JSON_TYPE) return [`-H 'content-type: ${type}'`, `--data-binary @logo.${type.split('/').at(-1)}`];
  const example = exampleOf(requestBody.content);
  return example === undefined ? [] : [`-H 'content-type: ${JSON_TYPE}'`, `-d ${quoted(pretty(example))}`];
};

const curl = (operation: Operation, publicUrl: string): string => {
  const { method, path, schemes, parameters } = operation;
  const url = `${publicUrl}${path.replaceAll(/\{(\w+)\}/g, (_, name: string) => variable(name))}`;
  const body = bodyOptions(operation);
  const isImplied = method === 'GET' || (method === 'POST' && body.length > 0);
  const credentials = schemes.map(({ name }) =>
    name === undefined ? '-H "Authorization: Bearer $TOKEN"' : `-H "${name}: $KEY"`,
  );
  const keys = parameters.filter(({ in: place, required }) => place === 'header' && required === true);
  const options = [...credentials, ...keys.map(({ name }) => `-H "${name}: order-$(date +%s)"`), ...body];
  return [`curl ${isImplied ? '' : `-X ${method} `}"${url}"`, ...options].join(' \\\n  ');
};

export const samples = (operation: Operation, publicUrl: string): Markup => {
  if (operation.kind === 'webhook')
    return codeBlock(pretty(exampleOf(operation.requestBody?.content) ?? {}), 'JSON', { title: 'Body' });
  const answers = successes(operation).flatMap(([status, { content }]) => {
    const example = exampleOf(content);
    return example === undefined ? [] : codeBlock(pretty(example), 'JSON', { title: `Response ${status}` });
  });
  // Only the first response is shown, because a 202 looks like the 200 or 201.
  return html`${codeBlock(curl(operation, publicUrl), 'Shell', { title: 'Request' })}${answers.slice(0, 1)}`;
};
