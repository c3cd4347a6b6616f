using System.Collections.Concurrent;

namespace Harness.Load;

/// <summary>Counts of requests and their errors, with the first few distinct error texts. Safe for concurrent use.</summary>
public sealed class RequestTally
{
    private const int MaxTexts = 5;
    private readonly ConcurrentDictionary<string, long> _texts = new();
    private long _answered;
    private long _empty;
    private long _messages;
    private long _errors;
    private long _otherErrors;

    /// <summary>Requests answered.</summary>
    public long Answered => Volatile.Read(ref _answered);

    /// <summary>Requests whose answer took no grain message.</summary>
    public long Empty => Volatile.Read(ref _empty);

    /// <summary>Grain messages of the answered requests.</summary>
    public long Messages => Volatile.Read(ref _messages);

    /// <summary>Failed calls.</summary>
    public long Errors => Volatile.Read(ref _errors);

    /// <summary>The first distinct error texts with their counts.</summary>
    public string[] ErrorTexts =>
        [.. _texts.Select(pair => $"{pair.Value} x {pair.Key}"), .. _otherErrors > 0 ? [$"{_otherErrors} x other"] : Array.Empty<string>()];

    /// <summary>Counts an answer that took <paramref name="messages"/> grain messages.</summary>
    public void Answer(int messages)
    {
        Interlocked.Increment(ref _answered);
        Interlocked.Add(ref _messages, messages);
        if (messages == 0)
            Interlocked.Increment(ref _empty);
    }

    /// <summary>Counts <paramref name="count"/> failures described by <paramref name="text"/>.</summary>
    public void Fail(string text, long count = 1)
    {
        Interlocked.Add(ref _errors, count);
        string line = text.Length > 300 ? text[..300] : text;
        if (_texts.Count < MaxTexts || _texts.ContainsKey(line))
            _texts.AddOrUpdate(line, count, (_, seen) => seen + count);
        else
            Interlocked.Add(ref _otherErrors, count);
    }
}
