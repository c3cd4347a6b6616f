using System.Reflection;
using ActOp.Calls;
using ActOp.Interleaving.Tests.Exploring;
using ActOp.Runtime.Routing;

namespace ActOp.Models;

/// <summary>Models of the parts of a node that many threads use.</summary>
public static class NodeModels
{
    private static readonly Dictionary<string, Func<Model>> Constructors =
        new[] { MailboxModel.All, RegistryModel.All, CancellationModel.All, LinkModel.All, PeerModel.All }
            .SelectMany(static models => models).ToDictionary();

    public static IReadOnlyCollection<string> Names => Constructors.Keys;

    public static Model Create(string name) => Constructors[name]();
}

/// <summary>A model with threads that begin as new ones: what the sources keep for each thread is as on a thread that nobody has used.</summary>
internal abstract class NodeModel : Model
{
    private const BindingFlags Hidden = BindingFlags.Static | BindingFlags.NonPublic | BindingFlags.Instance;

    private static readonly FieldInfo Magazine = typeof(CallRegistry).GetField("t_magazine", Hidden)!;
    private static readonly FieldInfo Batch = typeof(SendBatch).GetField("t_batch", Hidden)!;

    private readonly List<string> _findings = [];
    private Interleaver _run = null!;

    public sealed override void Start(Interleaver run)
    {
        _run = run;
        BeginThread();
        Prepare();
        run.Settle();
        Build();
        EndThread();
        run.Begin();
    }

    public sealed override string? Check()
    {
        BeginThread();
        return _findings.FirstOrDefault() ?? CheckRest();
    }

    /// <summary>Makes the objects and spawns the threads that wait for work: they do, before the others begin.</summary>
    protected virtual void Prepare()
    {
    }

    /// <summary>Spawns the threads whose orders are tried.</summary>
    protected abstract void Build();

    /// <summary>What is wrong when no thread can go on, or null.</summary>
    protected abstract string? CheckRest();

    internal void Find(string finding) => _findings.Add(finding);

    internal void Spawn(string name, Action body) => _run.Spawn(name, () =>
    {
        BeginThread();
        body();
    });

    /// <summary>The thread ends when it is done: the registry gets the tickets of the thread back.</summary>
    internal void SpawnAndEnd(string name, Action body) => Spawn(name, () =>
    {
        body();
        EndThread();
    });

    /// <summary>Waits until the condition holds, which other threads bring about.</summary>
    internal static void WaitFor(Func<bool> condition) => Interleaver.Current.Block(condition, isLock: false);

    private static void EndThread()
    {
        if (Magazine.GetValue(null) is not { } magazine)
            return;
        Magazine.SetValue(null, null);
        GC.SuppressFinalize(magazine);
        magazine.GetType().GetMethod("GiveBack", Hidden)!.CreateDelegate<Action>(magazine)();
    }

    private static void BeginThread()
    {
        if (Magazine.GetValue(null) is { } magazine)
            GC.SuppressFinalize(magazine);
        Magazine.SetValue(null, null);
        Batch.SetValue(null, null);
        CallHost.Current = null;
        Stage.WillPause = false;
    }
}
