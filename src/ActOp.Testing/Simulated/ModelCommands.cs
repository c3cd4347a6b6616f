using System.Globalization;
using System.Reflection;
using System.Runtime.ExceptionServices;
using Orleans;
using Orleans.Runtime;

namespace ActOp.Testing.Simulated;

/// <summary>Draws calls of a grain from the methods of its model, makes them, and compares their results with those of the model.</summary>
/// <remarks>
/// All draws are made before the first call, so that a call which a replay leaves out does not change the others. Only the thread of the
/// pump uses it.
/// </remarks>
internal sealed class ModelCommands<TGrain, TModel>(SimulatedRun run, TGrain grain, SimulationCommands options)
    where TGrain : IAddressable
    where TModel : class, new()
{
    private const int Values = 4;

    private readonly CallHistory<TModel> _history = new(run, static () => new TModel());
    private readonly string _name = grain.GetGrainId().ToString();

    /// <exception cref="ArgumentException">
    /// The model has a method that the grain has not, or a parameter for which there is no value.
    /// </exception>
    internal async Task PlayAsync(int count)
    {
        var methods = MethodsOf();
        var first = run.ReserveCommands(count);
        Drawn[] drawn = [.. Enumerable.Range(first, count).Select(number => Draw(number, methods))];
        await Task.WhenAll(Enumerable.Range(0, options.Clients).Select(client => run.BesideAsync(
            "client " + (client + 1) + " of " + _name,
            () => CallAsync(drawn.Where(one => (one.Number - first) % options.Clients == client))))).ConfigureAwait(true);
        _history.Check();
    }

    private static (MethodInfo OfGrain, MethodInfo OfModel)[] MethodsOf()
    {
        Type[] types = [typeof(TGrain), .. typeof(TGrain).GetInterfaces()];
        MethodInfo[] ofGrain = [.. types.SelectMany(static type => type.GetMethods())];
        var methods = typeof(TModel).GetMethods(BindingFlags.Instance | BindingFlags.Public).Where(static one => IsCommand(one))
            .Select(one => (Array.Find(ofGrain, other => IsSame(other, one)) ?? throw new ArgumentException(
                "The model's " + typeof(TModel).Name + "." + one + " is no method of " + typeof(TGrain).Name + ": a model has the methods "
                + "of the grain that are to be called, with the same parameters, and the results without Task."), one))
            .OrderBy(static pair => pair.one.ToString(), StringComparer.Ordinal).ToArray();
        return methods.Length > 0 ? methods : throw new ArgumentException("The model " + typeof(TModel).Name + " has no public method.");
    }

    private static bool IsCommand(MethodInfo method) =>
        !method.IsSpecialName && method.GetBaseDefinition().DeclaringType != typeof(object) && method.Name is not ("Equals" or "<Clone>$");

    private static bool IsSame(MethodInfo ofGrain, MethodInfo ofModel) =>
        ofGrain.Name == ofModel.Name && ResultOf(ofGrain.ReturnType) == ofModel.ReturnType
        && ofGrain.GetParameters().Select(static one => one.ParameterType)
            .SequenceEqual(ofModel.GetParameters().Select(static one => one.ParameterType));

    private static Type? ResultOf(Type task)
    {
        if (task == typeof(Task) || task == typeof(ValueTask))
            return typeof(void);
        var definition = task.IsGenericType ? task.GetGenericTypeDefinition() : null;
        return definition == typeof(Task<>) || definition == typeof(ValueTask<>) ? task.GetGenericArguments()[0] : null;
    }

    private Drawn Draw(int number, (MethodInfo OfGrain, MethodInfo OfModel)[] methods)
    {
        var (ofGrain, ofModel) = methods[run.Random.Next(methods.Length)];
        var arguments = Array.ConvertAll(ofGrain.GetParameters(), ArgumentOf);
        var texts = Array.ConvertAll(arguments, static one => Convert.ToString(one, CultureInfo.InvariantCulture) ?? "null");
        var pause = options.Pause.Ticks == 0 ? 0 : run.Random.NextInt64(2 * options.Pause.Ticks);
        return new Drawn(number, ofGrain, ofModel, arguments, ofGrain.Name + "(" + string.Join(", ", texts) + ")", pause);
    }

    private object? ArgumentOf(ParameterInfo parameter)
    {
        if (options.Arguments is { } arguments)
            return arguments(run.Random, parameter);
        var type = Nullable.GetUnderlyingType(parameter.ParameterType) ?? parameter.ParameterType;
        var value = run.Random.Next(Values);
        if (type == typeof(string))
            return ((char)('a' + value)).ToString();
        if (type == typeof(bool))
            return value % 2 == 0;
        if (type == typeof(Guid))
            return new Guid(value + 1, 0, 0, new byte[8]);
        if (type.IsEnum)
            return type.GetEnumValues().GetValue(run.Random.Next(type.GetEnumValues().Length));
        if (type == typeof(decimal) || (type.IsPrimitive && type != typeof(char)))
            return Convert.ChangeType(value, type, CultureInfo.InvariantCulture);
        return parameter.HasDefaultValue ? parameter.DefaultValue : throw new ArgumentException(
            "There is no value for the parameter " + parameter.Name + " of " + parameter.Member.Name + ", a " + type.Name
            + ": set SimulationCommands.Arguments.");
    }

    private async Task CallAsync(IEnumerable<Drawn> commands)
    {
        foreach (var command in commands)
        {
            await run.DelayAsync(command.Pause).ConfigureAwait(true);
            try
            {
                await run.CommandAsync(command.Number, command.Text, () => _history.Call(
                    _name, command.Text, command.Text, () => command.CallAsync(grain),
                    model => Invoke(command.OfModel, model, command.Arguments), null)).ConfigureAwait(true);
            }
            catch (Exception exception) when (exception is not CheckFailedException)
            {
                // It has no result: the history knows that it may have had its effect.
            }
        }
    }

    private static object? Invoke(MethodInfo method, object target, object?[] arguments)
    {
        try
        {
            return method.Invoke(target, arguments);
        }
        catch (TargetInvocationException exception)
        {
            ExceptionDispatchInfo.Throw(exception.InnerException!);
            throw;
        }
    }

    private sealed record Drawn(int Number, MethodInfo OfGrain, MethodInfo OfModel, object?[] Arguments, string Text, long Pause)
    {
        internal async Task<object?> CallAsync(TGrain grain)
        {
            var task = Invoke(OfGrain, grain, Arguments) switch
            {
                Task one => one,
                ValueTask one => one.AsTask(),
                { } one => (Task)one.GetType().GetMethod(nameof(ValueTask.AsTask))!.Invoke(one, null)!,
                null => throw new InvalidOperationException(OfGrain.Name + " has returned no task."),
            };
            await task.ConfigureAwait(true);
            return ResultOf(OfGrain.ReturnType) == typeof(void) ? null : task.GetType().GetProperty(nameof(Task<>.Result))!.GetValue(task);
        }
    }
}
