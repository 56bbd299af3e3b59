// One operation of the reference: parameters, responses, samples, and a form to try it.
import type { ErrorCode } from '../../../../domain/kernel/rejection.ts';
import { ERRORS } from '../../../kernel/errors.ts';
import { html, type Markup } from '../../html.ts';
import { GUIDE_LINKS, markdown } from '../guides.ts';
import { docsPage, script, styleSheet } from '../layout.ts';
import { fieldList, propertyList } from './fields.ts';
import type { Operation, Parameter, ResponseOf } from './model.ts';
import { JSON_TYPE, samples, successes } from './samples.ts';
import { tryIt } from './tryIt.ts';

export const operationPath = (operationId: string): string => `/docs/operations/${operationId}`;

export const REFERENCE_HEAD = html`${styleSheet('reference.css')}
${script('reference.js')}
${script('tryIt.js')}
`;

export const endpoint = ({ method, path }: Operation): Markup =>
  html`<span class="method ${method.toLowerCase()}">${method}</span> <code class="path">${path}</code>`;

const section = (title: string, content: Markup | null): Markup | null => content && html`<h3>${title}</h3>${content}`;

const PLACES = { path: 'Path parameters', query: 'Query parameters', header: 'Headers' } as const;

const parameterSections = (parameters: readonly Parameter[]): readonly Markup[] =>
  (Object.keys(PLACES) as (keyof typeof PLACES)[]).flatMap((place) => {
    const there = parameters.filter((parameter) => parameter.in === place);
    if (there.length === 0) return [];
    const fields = there.map((parameter) => ({ ...parameter, isRequired: parameter.required === true }));
    return html`<h3>${PLACES[place]}</h3>${fieldList(fields)}`;
  });

const bodySection = ({ requestBody }: Operation): Markup | null => {
  if (requestBody === undefined) return null;
  const json = requestBody.content[JSON_TYPE];
  const types = Object.keys(requestBody.content).map((type) => html`<code>${type}</code> `);
  return section('Body', json ? propertyList(json.schema, true) : html`<p>The file itself: ${types}</p>`);
};

const responseSection = ([status, { description = '', content, headers = {} }]: readonly [
  string,
  ResponseOf,
]): Markup => {
  const schema = content?.[JSON_TYPE]?.schema;
  const named = Object.entries(headers).map(([name, header]) => ({ ...header, name, isRequired: false }));
  return html`<p class="response"><span class="status">${status}</span> ${markdown(description)}</p>
${schema?.properties || schema?.items?.properties ? html`<details class="more"><summary>Fields of the ${status} response</summary>${propertyList(schema)}</details>` : null}${
  named.length === 0
    ? null
    : html`<details class="more"><summary>Headers of the ${status} response</summary>${fieldList(named)}</details>`
}`;
};

const errorItem = (code: ErrorCode): Markup =>
  html`<li><a href="/docs/errors#${code}">${ERRORS[code].status} <code>${code}</code></a> ${markdown(ERRORS[code].when)}</li>`;

const errorSection = ({ responses }: Operation): Markup | null => {
  const codes = Object.values(responses).flatMap((response) => (response['x-codes'] ?? []) as readonly ErrorCode[]);
  if (codes.length === 0) return null;
  return html`<h3>Errors</h3><details class="more"><summary>${codes.length} error codes</summary><ul class="codes">${codes.map(errorItem)}</ul></details>`;
};

const authentication = ({ schemes, kind }: Operation): Markup | null => {
  if (kind === 'webhook') return null;
  if (schemes.length === 0) return html`<p>No authentication.</p>`;
  return html`${schemes.map(({ name, description = '' }) => html`<p>Header <code>${name ?? 'Authorization: Bearer'}</code></p>${markdown(description)}`)}`;
};

/** Returns the part of an operation's page that the reference also shows when a reader opens the operation. */
const operationBody = (operation: Operation, publicUrl: string): Markup =>
  html`<div class="operation" data-operation><div class="intro">${markdown(operation.description ?? '')}${operation.kind === 'webhook' ? null : tryIt(operation)}</div>
<div class="facts">${section('Authentication', authentication(operation))}${parameterSections(operation.parameters)}${bodySection(operation)}
<h3>Response</h3>${successes(operation).map(responseSection)}${errorSection(operation)}</div>
<div class="samples">${samples(operation, publicUrl)}</div></div>`;

export const operationPage = (operation: Operation, publicUrl: string): string =>
  docsPage({
    path: operationPath(operation.operationId),
    title: operation.summary,
    description: operation.summary,
    head: REFERENCE_HEAD,
    guides: GUIDE_LINKS,
    main: html`<article class="reference"><p class="crumb"><a href="/docs#${operation.operationId}">API reference</a> / ${operation.tag}</p>
<h1>${operation.summary}</h1><h2 class="endpoint">${endpoint(operation)}</h2>${operationBody(operation, publicUrl)}</article>`,
  });
