using System.Text.Json;
using Orleans.Storage;

namespace ActOp.PostgreSql.Tests;

/// <summary>States as JSON.</summary>
internal sealed class Json : IGrainStorageSerializer
{
    public BinaryData Serialize<T>(T? input) => new(JsonSerializer.SerializeToUtf8Bytes(input));

    public T? Deserialize<T>(BinaryData input) => JsonSerializer.Deserialize<T>(input.ToMemory().Span);
}

/// <summary>The system's time, and more.</summary>
internal sealed class LeapingTime : TimeProvider
{
    private long _leap;

    public void Leap(TimeSpan time) => Interlocked.Add(ref _leap, (long)(time.TotalSeconds * TimestampFrequency));

    public override long GetTimestamp() => base.GetTimestamp() + Volatile.Read(ref _leap);
}
