using ActOp.Harness.Processes;
using ActOp.Outages.Checks;
using ActOp.Outages.Cluster;

namespace ActOp.Outages.Load;

/// <summary>One call of a client, and how it ended.</summary>
internal sealed record Call
{
    /// <summary>The client.</summary>
    public int Client { get; init; }

    /// <summary>What was called; <see cref="Role.Implicit"/> for an item of a stream.</summary>
    public Role Kind { get; init; }

    /// <summary>The grain or the stream.</summary>
    public long Key { get; init; }

    /// <summary>What was asked for.</summary>
    public Verb Verb { get; init; }

    /// <summary>The value, id or item.</summary>
    public long Argument { get; init; }

    /// <summary>What a swap expects.</summary>
    public long Expected { get; init; }

    /// <summary>The value that came back.</summary>
    public long Result { get; init; }

    /// <summary>The activation that answered.</summary>
    public Guid Activation { get; init; }

    /// <summary>Whether it is one of the reads at the end.</summary>
    public bool IsFinal { get; init; }

    /// <summary>Whether the ids of a counter were asked for.</summary>
    public bool IsList { get; init; }

    /// <summary>The ids of a counter.</summary>
    public long[]? List { get; init; }

    /// <summary>When it was sent: ticks of the machine's monotonic clock.</summary>
    public long From { get; init; }

    /// <summary>When it ended.</summary>
    public long To { get; init; }

    /// <summary>The type of the exception, and of the one inside; null for an answer. Whether the call was done is unknown then.</summary>
    public string? Error { get; init; }

    /// <summary>The exception's message.</summary>
    public string? Text { get; init; }

    /// <summary>As the search sees it.</summary>
    internal Operation Operation => new(Verb, Argument, Expected, Result, From, To, Error is null);
}

/// <summary>Writes calls to a file, one line each. Any thread.</summary>
internal sealed class HistoryWriter(string path) : IDisposable
{
    private readonly StreamWriter _writer = new(path, new FileStreamOptions
    {
        Mode = FileMode.CreateNew,
        Access = FileAccess.Write,
        Share = FileShare.Read,
    });

    internal void Write(Call call) => JsonLines.Write(_writer, call);

    /// <summary>The calls of a file.</summary>
    internal static IEnumerable<Call> Read(string path) => File.ReadLines(path)
        .Select(static line => JsonLines.TryRead(line, out Call? call) ? call! : throw new InvalidDataException("Not a call: " + line));

    public void Dispose() => _writer.Dispose();
}
