// Common parts of operators' actions: a form redirects to the page with the result, or its own page is shown again.
import { isRejection, type Rejection, reject } from '../../../../domain/kernel/rejection.ts';
import type { PlatformCaller } from '../../../kernel/callers.ts';
import type { Form } from '../../../kernel/forms.ts';
import { FORM } from '../../../kernel/route.ts';
import { type Content, PAGE, type PersonAsking, pageQuery, REDIRECT, redirect } from '../page.ts';
import type { DoneAction } from '../texts/texts.ts';
import { type Operator, ofOperator, operatorOf, shownToOperator } from './page.ts';

/** Common properties of the routes of operators' pages. */
export const showing = { ...ofOperator, query: pageQuery, responses: { 200: PAGE } } as const;
/** Common properties of the routes of operators' actions. */
export const acting = {
  ...ofOperator,
  query: pageQuery,
  body: FORM,
  responses: { 303: REDIRECT, 422: PAGE },
} as const;
/** The same for an action whose response shows the result: a secret, or an institution's answer. */
export const answering = { ...acting, responses: { 200: PAGE, 422: PAGE } } as const;

export type Asking = PersonAsking<PlatformCaller>;
export type Acting = Asking & { readonly body: Form };

interface Action {
  readonly act: (operator: Operator) => Promise<unknown>;
  readonly done: DoneAction;
  /** The path of the page with the result, below the platform. */
  readonly place: string;
  /** The form's page with the submitted values. */
  readonly page: (operator: Operator) => Promise<Content | Rejection>;
}

/** A problem in the words of the page. The page translates other rejections. */
interface Said extends Rejection {
  readonly isSaid: true;
}
export const said = (message: string): Said => ({ ...reject('invalid_request', message), isSaid: true });

/** Returns the page with a problem, or a 404 unchanged. */
export const shownAgain = async (context: Asking, operator: Operator, page: Action['page'], refusal: Rejection) => {
  const content = refusal.code === 'not_found' ? refusal : await page(operator);
  if (isRejection(content)) return content;
  return shownToOperator(422, context, operator, {
    ...content,
    problem: 'isSaid' in refusal ? refusal.message : refusal,
  });
};

/** Performs the action and redirects to the page with the result. A rejection is shown on the form's page. */
export const acted = async (context: Acting, { act, done, place, page }: Action) => {
  const operator = operatorOf(context);
  const outcome = await act(operator);
  return isRejection(outcome) ? shownAgain(context, operator, page, outcome) : redirect(operator.to(place), done);
};

/** Returns a page, or its rejection. */
export const shown = async (context: Asking, page: Action['page']) => {
  const operator = operatorOf(context);
  const content = await page(operator);
  return isRejection(content) ? content : shownToOperator(200, context, operator, content);
};
