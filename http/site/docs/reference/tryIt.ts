// The form for calling an operation from its page. tryIt.js shows, fills and sends it.
import { html, type Markup } from '../../html.ts';
import type { Operation, Parameter, Scheme } from './model.ts';
import { exampleOf, JSON_TYPE, pretty } from './samples.ts';

const required = (isRequired: boolean | undefined): Markup | null => (isRequired ? html` required` : null);

const label = (name: string, isRequired: boolean | undefined, field: Markup): Markup =>
  html`<label><span>${name}${isRequired ? html` <small>required</small>` : null}</span>${field}</label>`;

const credential = ({ name }: Scheme): Markup =>
  name === undefined
    ? label(
        'Dashboard token',
        true,
        html`<input data-in="credential" data-prefix="Bearer " name="Authorization" autocomplete="off" spellcheck="false" required>`,
      )
    : label(
        'API key',
        true,
        html`<input data-in="credential" name="${name}" autocomplete="off" spellcheck="false" placeholder="ak_test_…" required>`,
      );

/** Returns whether the form has a field for the parameter. Optional headers are left out to keep the form short. */
const isAsked = ({ in: place, required: isRequired }: Parameter): boolean => place !== 'header' || isRequired === true;

const isKey = (name: string): boolean => name === 'Idempotency-Key';

const parameter = ({ name, in: place, required: isRequired, schema }: Parameter): Markup =>
  label(
    name,
    isRequired,
    schema.enum
      ? html`<select data-in="${place}" name="${name}"${required(isRequired)}><option value="">–</option>${schema.enum.map((value) => html`<option>${String(value)}</option>`)}</select>`
      : html`<input data-in="${place}" name="${name}" autocomplete="off" spellcheck="false"${isKey(name) ? html` data-fresh` : null}${required(isRequired)}>`,
  );

const body = ({ requestBody }: Operation): Markup | null => {
  if (requestBody === undefined) return null;
  const { content, required: isRequired } = requestBody;
  const types = Object.keys(content);
  if (!types.includes(JSON_TYPE))
    return label('File', isRequired, html`<input data-in="file" type="file" accept="${types.join(',')}" required>`);
  const example = pretty(exampleOf(content) ?? {});
  return label(
    'Body',
    isRequired,
    html`<textarea data-in="body" data-fresh spellcheck="false" rows="${example.split('\n').length}">${example}</textarea>`,
  );
};

const takesFreshKey = ({ parameters, requestBody }: Operation): boolean =>
  parameters.some(({ name }) => isKey(name)) ||
  Object.hasOwn(requestBody?.content[JSON_TYPE]?.schema.properties ?? {}, 'idempotencyKey');

export const tryIt = (operation: Operation): Markup => {
  const { operationId, method, path, schemes, parameters } = operation;
  const fresh = takesFreshKey(operation)
    ? html`<button type="button" class="button second" data-new-key>New idempotency key</button>`
    : null;
  return html`<div class="try-it"><button type="button" class="button second" aria-expanded="false" aria-controls="try-${operationId}" data-try>Try it out</button>
<form id="try-${operationId}" data-method="${method}" data-path="${path}" aria-label="Try ${operationId}" hidden>
<p class="muted">Sends a real request to this server. Use a test key: with a live key, real money moves.</p>
${schemes.map(credential)}${parameters.filter(isAsked).map(parameter)}${body(operation)}
<p class="actions"><button class="button">Send</button>${fresh}</p>
<div class="answer"><p role="status"></p><pre tabindex="0" aria-label="Response" hidden><code></code></pre></div>
</form></div>`;
};
