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
    public async Task Invoke(IIncomingGrainCallContext context)
    {
        if (context.Grain.GetType().Assembly.IsDefined(typeof(OfRuntimeAttribute), inherit: false))
        {
            await context.Invoke().ConfigureAwait(true);
            return;
        }

        var call = new WatchedCall(context);
        pump.Mix(context.TargetId.GetUniformHashCode());
        if (pump.IsTraced)
            pump.Write(machine, EventKind.Load, "runs " + call.WithArguments);
        var isOneWay = IsOneWay(context);
        if (isOneWay && run.Faults.OfMessage() == Misfortune.LoseMessage)
        {
            run.Tell(machine.Name, "does not get " + call.WithArguments + " of " + call.Caller, call.Sent with { IsLost = true });
            return;
        }

        run.Calls++;
        if (run.IsRecorded)
            run.Tell(machine.Name, "runs " + call.WithArguments, call.Sent);
        if (run.Barriers.Any)
            await run.Barriers.PassAsync(machine.Name, "runs " + call.WithArguments).ConfigureAwait(true);
        var (misfortune, dice) = run.Faults.OfCall();
        if (misfortune == Misfortune.CrashBefore && run.CrashBut(machine, "as it begins " + call.Name))
            await Never().ConfigureAwait(true);
        try
        {
            await context.Invoke().ConfigureAwait(true);
            if ((isOneWay || IsTick(context)) && run.Faults.OfDelivery() == Misfortune.Repeat)
            {
                run.Tell(
                    machine.Name, "gets it again: " + call.WithArguments, call.Sent with { Text = context.MethodName + ", again" });
                await context.Invoke().ConfigureAwait(true);
            }
        }
        catch (Exception exception)
        {
            run.Tell(machine.Name, "fails in " + call.Name + ": " + TextOf(exception), call.Failed(TextOf(exception)));
            throw;
        }

        if (run.Barriers.Any)
            await run.Barriers.PassAsync(machine.Name, "has done " + call.Name).ConfigureAwait(true);
        if (misfortune == Misfortune.CrashAfter
            && run.CrashBut(machine, "when it has done " + call.Name + ", before the answer is sent"))
        {
            await Never().ConfigureAwait(true);
        }

        if (misfortune != Misfortune.None)
            Interfere(context, call.Name, misfortune, dice);
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

    private static bool IsTick(IIncomingGrainCallContext context) =>
        context.Grain is IRemindable && context.MethodName == nameof(IRemindable.ReceiveReminder);

    private static string TextOf(Exception exception) => exception.GetType().Name + ": " + exception.Message;

    /// <summary>The process has ended here: its code does not go on.</summary>
    private static Task Never() => new TaskCompletionSource().Task;

    /// <summary>What is said of a call. Most calls are in no story and at no barrier, so nothing is made before it is asked for.</summary>
    private sealed class WatchedCall(IIncomingGrainCallContext context)
    {
        private const int LongestArgument = 60;

        internal string Name => field ??= context.TargetId + "." + context.MethodName;

        internal string WithArguments => Name + Arguments;

        internal string Caller => field ??= NameOf(context.SourceId);

        internal Arrow Sent => new(Caller, Grain, context.MethodName + Arguments);

        private string Grain => field ??= NameOf(context.TargetId);

        private string Arguments => field ??= "(" + ArgumentsOf(context.Request) + ")";

        internal Arrow Failed(string text) => new(Grain, Caller, text, IsLost: true);

        /// <summary>Who takes part in a call: a grain of the application, or the test.</summary>
        private static string NameOf(GrainId? grain) =>
            grain is { } id && !SystemGrainIds.IsSystemGrain(id) ? id.ToString() : Diagram.Test;

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
}
