using System.Globalization;
using ActOp.Calls;
using ActOp.Foundation;
using Orleans;
using Orleans.CodeGeneration;
using Orleans.Runtime;
using Orleans.Runtime.Placement;
using Orleans.Serialization.Invocation;

namespace ActOp.Testing.Simulated;

/// <summary>Sees the calls that the grains of one silo get, and lets something go wrong with some of them.</summary>
/// <remarks>Owns nothing. It runs on the turns of the grains, which are on the thread of the pump.</remarks>
internal sealed class CallWatch(SimulatedRun run, Machine machine, Pump pump) : IIncomingGrainCallFilter
{
    private const int LongestArgument = 60;

    public async Task Invoke(IIncomingGrainCallContext context)
    {
        if (context.Grain.GetType().Assembly.IsDefined(typeof(OfRuntimeAttribute), inherit: false))
        {
            await context.Invoke().ConfigureAwait(true);
            return;
        }

        var call = context.TargetId + "." + context.MethodName;
        pump.Mix(context.TargetId.GetUniformHashCode());
        if (pump.IsTraced)
            pump.Write(machine, EventKind.Load, "runs " + call + "(" + ArgumentsOf(context.Request) + ")");
        var arguments = "(" + ArgumentsOf(context.Request) + ")";
        var (caller, grain) = (NameOf(context.SourceId), NameOf(context.TargetId));
        if (IsOneWay(context) && run.Faults.OfMessage() == Misfortune.LoseMessage)
        {
            var lost = new Arrow(caller, grain, context.MethodName + arguments, IsLost: true);
            run.Tell(machine.Name, "does not get " + call + arguments + " of " + caller, lost);
            return;
        }

        run.Calls++;
        var begins = "runs " + call + arguments;
        run.Tell(machine.Name, begins, new Arrow(caller, grain, context.MethodName + arguments));
        await run.Barriers.PassAsync(machine.Name, begins).ConfigureAwait(true);
        var (misfortune, dice) = run.Faults.OfCall();
        if (misfortune == Misfortune.CrashBefore && run.CrashBut(machine, "as it begins " + call))
            await Never().ConfigureAwait(true);
        try
        {
            await context.Invoke().ConfigureAwait(true);
            if (MayRepeat(context) && run.Faults.OfDelivery() == Misfortune.Repeat)
            {
                run.Tell(machine.Name, "gets it again: " + call + arguments, new Arrow(caller, grain, context.MethodName + ", again"));
                await context.Invoke().ConfigureAwait(true);
            }
        }
        catch (Exception exception)
        {
            var text = exception.GetType().Name + ": " + exception.Message;
            run.Tell(machine.Name, "fails in " + call + ": " + text, new Arrow(grain, caller, text, IsLost: true));
            throw;
        }

        await run.Barriers.PassAsync(machine.Name, "has done " + call).ConfigureAwait(true);
        if (misfortune == Misfortune.CrashAfter && run.CrashBut(machine, "when it has done " + call + ", before the answer is sent"))
            await Never().ConfigureAwait(true);
        Interfere(context, call, misfortune, dice);
    }

    private void Interfere(IIncomingGrainCallContext context, string call, Misfortune misfortune, Dice dice)
    {
        switch (misfortune)
        {
            case Misfortune.LoseLinks:
                run.Tell(machine.Name, "loses its links when it has done " + call + ", before the answer is sent");
                run.LoseLinks(machine);
                break;
            case Misfortune.Deactivate:
                run.Tell(machine.Name, "ends the activation of " + context.TargetId + " after " + call);
                context.TargetContext.Deactivate(new DeactivationReason(DeactivationReasonCode.ApplicationRequested, "The simulation."));
                break;
            case Misfortune.Migrate when run.Other(machine, dice) is { } other:
                run.Tell(machine.Name, "moves " + context.TargetId + " to " + other.Name + " after " + call);
                context.TargetContext.Migrate(
                    new Dictionary<string, object> { [IPlacementDirector.PlacementHintKey] = other.Node.Address });
                break;
        }
    }

    /// <summary>Ticks of timers have no answer either, but come from the grain itself.</summary>
    private static bool IsOneWay(IIncomingGrainCallContext context) =>
        context.Request is IRequest request && (request.Options & InvokeMethodOptions.OneWay) != 0
        && context.InterfaceMethod.DeclaringType?.Assembly.IsDefined(typeof(OfRuntimeAttribute), inherit: false) == false;

    private static bool MayRepeat(IIncomingGrainCallContext context) =>
        IsOneWay(context) || (context.Grain is IRemindable && context.MethodName == nameof(IRemindable.ReceiveReminder));

    /// <summary>Who takes part in a call: a grain of the application, or the test.</summary>
    private static string NameOf(GrainId? grain) => grain is { } id && !SystemGrainIds.IsSystemGrain(id) ? id.ToString() : Diagram.Test;

    /// <summary>The process has ended here: its code does not go on.</summary>
    private static Task Never() => new TaskCompletionSource().Task;

    private static string ArgumentsOf(IInvokable request)
    {
        var texts = new string[request.GetArgumentCount()];
        for (var index = 0; index < texts.Length; index++)
        {
            var text = Convert.ToString(request.GetArgument(index), CultureInfo.InvariantCulture) ?? "null";
            texts[index] = text.Length > LongestArgument ? text[..LongestArgument] + "..." : text;
        }

        return string.Join(", ", texts);
    }
}
