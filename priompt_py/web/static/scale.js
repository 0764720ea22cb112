/** Numbers of tokens on a scale: its end, its marks, and the steps of the slider. */

/**
 * The least of 1, 2, 2.5 or 5 times a power of ten that is not below a number.
 *
 * @param {number} number
 */
export function niceAbove(number) {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, number)));
  const factor = [1, 2, 2.5, 5, 10].find((one) => one * power >= number) ?? 10;
  return Math.max(1, Math.ceil(factor * power));
}

/**
 * Where the scale ends: a little after everything, and after the limit where that is higher.
 *
 * @param {number} total tokens when everything is in
 * @param {number} limit
 * @param {boolean} isNear whether only the part around the limit is wanted
 */
export function scaleEnd(total, limit, isNear) {
  const whole = Math.max(total * 1.03, limit, 8);
  const end = isNear ? Math.min(whole, Math.max(limit * 2, 8)) : whole;
  const step = niceAbove(end / 40);
  return Math.ceil(end / step) * step;
}

/**
 * Marks of the scale, at least two, with about so many pixels for each.
 *
 * @param {number} end
 * @param {number} width pixels
 */
export function ticks(end, width) {
  const step = niceAbove(end / Math.max(1, Math.floor(width / 90)));
  const found = [];
  for (let at = 0; at <= end; at += step) found.push(at);
  return found;
}

/**
 * What one press of an arrow key moves: about a two-hundredth.
 *
 * @param {number} end
 */
export function keyStep(end) {
  return niceAbove(end / 200);
}
