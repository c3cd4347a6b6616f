using System.Collections.Concurrent;
using System.Reflection;
using ActOp.Calls;
using ActOp.Configuration;
using ActOp.Foundation;
using ActOp.Groups;
using Orleans.CodeGeneration;
using Orleans.Runtime;

namespace ActOp.Runtime.Groups;

/// <summary>
/// What requests cost that say so (<see cref="CostAttribute"/>, <see cref="GroupsOptions.Cost"/>). With ticks only. Source: paper on actor
/// groups, section 3.2, pre-estimated execution time.
/// </summary>
/// <remarks>
/// Any thread; the delegate of the application is called on turns only. Failures of it: throws, or gives less than 0: the request has no
/// cost, logged once per class. Hangs: as any code of a grain, that is a long turn.
/// </remarks>
internal sealed class RequestCosts(RequestCost? ask, Log log)
{
    private readonly ConcurrentDictionary<CallMethod, double> _ofMethods = new();
    private readonly OncePerClass _wrong = new(log.GroupCostFailed);

    /// <exception cref="OrleansConfigurationException">A method of its interfaces has a cost that is none.</exception>
    internal static void CheckClass(Type type)
    {
        foreach (var method in type.GetInterfaces().SelectMany(static one => one.GetMethods()))
        {
            var cost = FindAttribute(method);
            GroupsOptions.Check(cost is null or (> 0 and < double.PositiveInfinity),
                "The method " + method.DeclaringType + "." + method.Name + " has [Cost(" + cost
                + ")]: a cost is a time above 0 in milliseconds");
        }
    }

    /// <summary>In microseconds; 0 if it is not known, and for requests that nothing holds back.</summary>
    internal double FindCost(Call call, GrainId grain, Type grainClass)
    {
        if (call.Method.IsOfRuntime || (call.Flags & InvokeMethodOptions.AlwaysInterleave) != 0)
            return 0;
        var cost = _ofMethods.GetOrAdd(call.Method, static method => 1_000 * (FindAttribute(method.Info) ?? 0));
        return cost > 0 || ask is null ? cost : Ask(ask, call, grain, grainClass);
    }

    /// <summary>In milliseconds.</summary>
    private static double? FindAttribute(MethodInfo method) => method.GetCustomAttribute<CostAttribute>(inherit: false)?.Milliseconds;

    private double Ask(RequestCost cost, Call call, GrainId grain, Type grainClass)
    {
        try
        {
            if (cost(grain, call.Method.Info, call.Context?.Values) is not { } time)
                return 0;
            if (time >= TimeSpan.Zero)
                return time.TotalMicroseconds;
            _wrong.Report(grainClass, "it has given " + time + ", which is less than 0", null);
        }
        catch (Exception exception)
        {
            _wrong.Report(grainClass, "it has thrown", exception);
        }

        return 0;
    }
}
