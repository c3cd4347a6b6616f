using ActOp.TestClusters;
using Orleans.Placement;
using Orleans.Runtime.Placement;
using Orleans.Storage;
using static ActOp.Border.Tests.Deed;

namespace ActOp.Border.Tests;

/// <summary>
/// Callbacks of the public surface that do wrong: the caller gets an answer that says what happened, other grains of the silos answer,
/// their timers tick, and nothing is left. <see cref="CallbackListTests"/> checks that no public interface is forgotten.
/// </summary>
[Collection(nameof(Mischief))]
public class CallbackTests(TroubledSilos silos) : IClassFixture<TroubledSilos>
{
    private static readonly Deed[] OfTask = [Throws, Fails, Hangs, ReturnsNull];

    internal static readonly Callback[] All =
    [
        new("grain method", static (silos, key) => Trouble(silos, key).Run(), OfTask, typeof(IGrain), typeof(IAddressable)),
        new("grain method with a result", static (silos, key) => Trouble(silos, key).Number(), OfTask),
        new("grain method with a value task", static (silos, key) => Trouble(silos, key).Flow().AsTask(),
            [Throws, Fails, Hangs, ReturnsForeign]),
        new("constructor", static (silos, key) => Trouble(silos, key).Run(), [Throws]),
        new("OnActivateAsync", static (silos, key) => Trouble(silos, key).Run(), OfTask, typeof(IGrainBase)),
        new("lifecycle participant", static (silos, key) => Trouble(silos, key).Run(), [Throws],
            typeof(ILifecycleParticipant<>), typeof(ILifecycleObservable)),
        new("start of a lifecycle stage", static (silos, key) => Trouble(silos, key).Run(), OfTask, typeof(ILifecycleObserver)),
        new("OnDeactivateAsync", EndAsync, OfTask),
        new("end of a lifecycle stage", EndAsync, OfTask),
        new("DisposeAsync", EndAsync, [Throws, Fails, Hangs]),
        new("OnDehydrate", MoveAsync, [Throws], typeof(IGrainMigrationParticipant)),
        new("OnRehydrate", MoveAsync, [Throws]),
        new("timer", static (silos, key) => Trouble(silos, key).Tick(), OfTask),
        new("incoming filter", static (silos, key) => Trouble(silos, key).Number(), [.. OfTask, ReturnsForeign, DoesNothing, ActsTwice],
            typeof(IIncomingGrainCallFilter), typeof(IncomingGrainCallFilterDelegate)),
        new("outgoing filter", static (silos, key) => Trouble(silos, key).Number(), [.. OfTask, ReturnsForeign, DoesNothing, ActsTwice],
            typeof(IOutgoingGrainCallFilter), typeof(OutgoingGrainCallFilterDelegate)),
        new("placement director", static (silos, key) => silos.Client.GetGrain<IPlaced>(key).Ask(),
            [.. OfTask, ReturnsForeign, DoesNothing], typeof(IPlacementDirector)),
        new("placement filter", static (silos, key) => silos.Client.GetGrain<IFilteredPlace>(key).Ask(),
            [Throws, ReturnsNull, ReturnsForeign, DoesNothing, ActsTwice], typeof(IPlacementFilterDirector)),
        new("grain activator", static (silos, key) => silos.Client.GetGrain<IMadeElsewhere>(key).Ask(),
            [Throws, ReturnsNull, ReturnsForeign], typeof(IGrainActivator), typeof(IConfigureGrainTypeComponents)),
        new("disposal by the activator", static async (silos, key) =>
        {
            await silos.Client.GetGrain<IMadeElsewhere>(key).End();
            await silos.Client.GetGrain<IMadeElsewhere>(key).Ask();
        }, [Throws, Fails, Hangs]),
        new("storage read", static (silos, key) => silos.Client.GetGrain<IKept>(key).Read(), OfTask, typeof(IGrainStorage)),
        new("storage write", static (silos, key) => silos.Client.GetGrain<IKept>(key).Write(), OfTask),
        new("storage clear", static (silos, key) => silos.Client.GetGrain<IKept>(key).Clear(), OfTask),
        new("directory registration", static (silos, key) => silos.Client.GetGrain<IListed>(key).Ask(),
            [.. OfTask, DoesNothing], typeof(Orleans.GrainDirectory.IGrainDirectory)),
        new("directory lookup", static (silos, key) => silos.Client.GetGrain<IListed>(key).Ask(), [.. OfTask, DoesNothing]),
        new("directory removal", static async (silos, key) =>
        {
            await silos.Client.GetGrain<IListed>(key).End();
            await silos.Client.GetGrain<IListed>(key).Ask();
        }, [Throws, Fails, ReturnsNull]),
        new("observer", static async (silos, key) =>
        {
            var observer = new Observer();
            await Trouble(silos, key).Tell(silos.Client.CreateObjectReference<ITroubleObserver>(observer));
            GC.KeepAlive(observer);
        }, OfTask, typeof(IGrainObserver)),
        new("factory of an extension", static (silos, key) => Trouble(silos, key).Extend(), [Throws, ReturnsNull],
            typeof(IGrainExtensionBinder)),
        new("method of an extension", static (silos, key) => Trouble(silos, key).Extend(), OfTask, typeof(IGrainExtension)),
        new("writing converter", static (silos, key) => Trouble(silos, key).Echo(new TroubledThing(2)), [Throws], typeof(IConverter<,>)),
        new("writing converter", static (silos, key) => Trouble(silos, key).Echo(null), [Throws]),
        new("writing converter", static (silos, key) =>
        {
            RequestContext.Set("thing", new TroubledThing(3));
            return Trouble(silos, key).Run();
        }, [Throws]),
        new("reading converter", static (silos, key) => Trouble(silos, key).Echo(new TroubledThing(2)), [Throws]),
        new("reading converter", static (silos, key) => Trouble(silos, key).Echo(null), [Throws]),
        new("exception of the application", static (silos, key) => Trouble(silos, key).Raise(), [Throws]),
        new("callback on a token", static async (silos, key) =>
        {
            using var source = new CancellationTokenSource();
            var waiting = Trouble(silos, key).Wait(source.Token);
            await Trouble(silos, key + "other").Run();
            source.Cancel();
            await waiting;
        }, [Throws]),
        new("MayInterleave", static (silos, key) => Task.WhenAll(
            Enumerable.Range(0, 3).Select(number => silos.Client.GetGrain<IGuarded>(key).Ask(number))), [Throws]),
    ];

    public static TheoryData<string, int, Deed> Cases
    {
        get
        {
            var cases = new TheoryData<string, int, Deed>();
            for (var index = 0; index < All.Length; index++)
            {
                foreach (var deed in All[index].Deeds)
                    cases.Add(All[index].Name, index, deed);
            }

            return cases;
        }
    }

    [Theory]
    [MemberData(nameof(Cases))]
    public async Task What_a_callback_does_wrong_reaches_its_caller_and_nobody_else(string name, int index, Deed deed)
    {
        var key = name + " " + index + " " + deed;
        Exception? answer;
        using (Mischief.Plan(name, deed))
        {
            answer = await Record.ExceptionAsync(() => All[index].Call(silos, key).WaitAsync(Gate.Patience));
            RequestContext.Clear();
            await OthersAnswerAsync(key);
        }

        AssertClear(answer);
        await OthersAnswerAsync(key + " later");
        await silos.Cluster.NothingInFlightAsync();
    }

    /// <summary>What happened in the words of the application, or of the runtime; not what somebody has stumbled over.</summary>
    private static void AssertClear(Exception? answer)
    {
        for (var one = answer; one is not null; one = one.InnerException)
        {
            if (one is FormatException { Message: Mischief.Word })
                return;
        }

        Assert.True(
            answer is null or OrleansException or InvalidOperationException or InvalidCastException or OperationCanceledException
                or TroubledException
                || (answer is TimeoutException && (answer.Message.Contains("silo", StringComparison.Ordinal)
                    || answer.Message.Contains("got no answer within its response timeout", StringComparison.Ordinal))), answer?.ToString());
    }

    private static ITrouble Trouble(TroubledSilos silos, string key) => silos.Client.GetGrain<ITrouble>(key);

    /// <summary>Ends the grain and calls it again: the call waits for the end.</summary>
    private static async Task EndAsync(TroubledSilos silos, string key)
    {
        await Trouble(silos, key).End();
        await Trouble(silos, key).Run();
    }

    private static async Task MoveAsync(TroubledSilos silos, string key)
    {
        var grain = Trouble(silos, key);
        await Place.On(silos.AddressOf(0), grain.Run);
        await silos.Cluster.MigrateAsync(grain.GetGrainId(), silos.AddressOf(1));
        await grain.Run();
    }

    /// <summary>On each silo a new grain, which needs the directory and the control stage, and its timer.</summary>
    private async Task OthersAnswerAsync(string key)
    {
        for (var silo = 0; silo < 2; silo++)
        {
            var calm = silos.Client.GetGrain<ICalm>(key + silo);
            Assert.Equal(silos.AddressOf(silo), await Place.On(silos.AddressOf(silo), calm.Where).WaitAsync(Gate.Patience));
            await calm.Tick().WaitAsync(Gate.Patience);
        }
    }

    private sealed class Observer : ITroubleObserver
    {
        public Task Hear() => Mischief.ActAsync("observer");
    }
}
