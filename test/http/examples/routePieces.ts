// Which pieces of a route's path are words, as other routes see them.
import { ROUTES } from '../../../http/api/routes.ts';
import type { Route } from '../../../http/kernel/route.ts';

/** Whether another route has a parameter where this one has a word: then the word in other letters is a value of that parameter. */
export const isAnothersParameter = (route: Route, at: number): boolean => {
  const own = route.path.split('/');
  return ROUTES.some(({ path }) => {
    const pieces = path.split('/');
    if (pieces.length !== own.length || !pieces[at]?.startsWith('{')) return false;
    return pieces.every((piece, n) => n === at || piece === own[n] || piece.startsWith('{'));
  });
};
