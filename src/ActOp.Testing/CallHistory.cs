using ActOp.Testing.Simulated;

namespace ActOp.Testing;

/// <summary>
/// The calls of a test, each beside the same call of a model: a plain class that says what one object does when it is called by one caller
/// at a time. <see cref="Check"/> looks for an order in which the model has given the same results: linearizability.
/// </summary>
/// <typeparam name="TModel">The model. The calls must be all that changes it, and must always do the same to it.</typeparam>
/// <remarks>
/// A call that throws, or that has not ended, may have had its effect at any time since it began, or never. A call that returns had it
/// between its begin and its end. Used on the thread of the simulation only.
/// </remarks>
public sealed class CallHistory<TModel>
{
    /// <summary>Enough for a hundred calls, of which some run at the same time.</summary>
    private const long MostCallsOfModel = 2_000_000;

    private readonly SimulatedRun _run;
    private readonly Func<TModel> _create;
    private readonly SortedDictionary<string, List<CallRecord<TModel>>> _calls = new(StringComparer.Ordinal);
    private long _moment;

    internal CallHistory(SimulatedRun run, Func<TModel> create) => (_run, _create) = (run, create);

    /// <summary>Makes a call and keeps it with its result.</summary>
    /// <param name="key">Which object is called, such as the key of the grain: each has a model of its own.</param>
    /// <param name="text">What a failure calls it.</param>
    /// <param name="call">The call. Its exception is that of the returned task, too.</param>
    /// <param name="expected">The same call of the model. Where the call must fail, it throws any exception.</param>
    /// <param name="same">Compares two results; null for <see cref="EqualityComparer{T}.Default"/>.</param>
    public Task<TResult> Call<TResult>(
        string key, string text, Func<Task<TResult>> call, Func<TModel, TResult> expected, IEqualityComparer<TResult>? same = null) =>
        Call(key, text, null, call, expected, same);

    // Calls with the same twin do the same; null if that is not known.
    internal async Task<TResult> Call<TResult>(
        string key, string text, string? twin, Func<Task<TResult>> call, Func<TModel, TResult> expected, IEqualityComparer<TResult>? same)
    {
        ArgumentNullException.ThrowIfNull(key);
        ArgumentException.ThrowIfNullOrEmpty(text);
        ArgumentNullException.ThrowIfNull(call);
        ArgumentNullException.ThrowIfNull(expected);
        if (!_calls.TryGetValue(key, out var calls))
            _calls.Add(key, calls = []);
        var index = calls.Count;
        var begun = _moment++;
        calls.Add(new CallRecord<TModel>(text, begun, CallRecord<TModel>.NeverEnds, model =>
        {
            expected(model);
            return true;
        }, twin));
        var result = await call().ConfigureAwait(true);
        var comparer = same ?? EqualityComparer<TResult>.Default;
        calls[index] = new CallRecord<TModel>(
            text + " = " + (result?.ToString() ?? "null"), begun, _moment++, model => comparer.Equals(expected(model), result));
        return result;
    }

    /// <summary>Makes a call without a result and keeps it.</summary>
    /// <inheritdoc cref="Call{TResult}(string, string, Func{Task{TResult}}, Func{TModel, TResult}, IEqualityComparer{TResult})"/>
    public Task Call(string key, string text, Func<Task> call, Action<TModel> expected)
    {
        ArgumentNullException.ThrowIfNull(call);
        ArgumentNullException.ThrowIfNull(expected);
        return Call(
            key, text,
            async () =>
            {
                await call().ConfigureAwait(true);
                return Nothing.Value;
            },
            model =>
            {
                expected(model);
                return Nothing.Value;
            });
    }

    /// <summary>
    /// Ends the run as a failure if no order of the calls of an object explains their results, or if none was found after two million calls
    /// of the model: then the history has too many calls at the same time, and nothing is known.
    /// </summary>
    public void Check()
    {
        foreach (var (key, calls) in _calls)
        {
            var order = new CallOrder<TModel>(calls, _create, MostCallsOfModel);
            var verdict = order.Search();
            if (verdict == OrderVerdict.Found)
                continue;
            if (verdict == OrderVerdict.TooHard)
            {
                throw new CheckFailedException(
                    "Whether the calls of " + key + " have an order is not known after " + MostCallsOfModel + " calls of the model: make "
                    + "fewer calls at the same time.", "too hard: " + key);
            }

            _run.Tell("history", "of " + key + ", as far as it has an order: "
                + (order.Longest.Count == 0 ? "nothing" : string.Join("; ", order.Longest.Select(static one => one.Text))));
            throw new CheckFailedException(
                "No order of the calls of " + key + " explains their results. After the longest order that does, these are left: "
                + string.Join("; ", order.Left.Select(static one => one.Text)) + ".", "no order: " + key);
        }
    }

    private readonly record struct Nothing
    {
        internal static Nothing Value => default;

        public override string ToString() => "done";
    }
}
