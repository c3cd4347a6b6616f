using System.Collections.Concurrent;
using System.Globalization;
using System.Net;
using System.Text;
using Microsoft.Extensions.Logging;

namespace Orleans.Runtime;

/// <summary>Small tools that libraries for Orleans use.</summary>
public static class Utils
{
    /// <summary>The items as text.</summary>
    public static string EnumerableToString<T>(
        IEnumerable<T>? collection, Func<T, string>? toString = null, string separator = ", ", bool putInBrackets = true)
    {
        if (collection is null)
            return putInBrackets ? "[]" : "null";
        var text = string.Join(separator, collection.Select(item => toString is null ? item?.ToString() : toString(item)));
        return putInBrackets ? "[" + text + "]" : text;
    }

    /// <summary>The pairs as text.</summary>
    public static string DictionaryToString<T1, T2>(
        ICollection<KeyValuePair<T1, T2>> dict, Func<T2, string?>? toString = null, string? separator = null) =>
        dict is null ? "[]" : "[" + string.Join(separator ?? Environment.NewLine,
            dict.Select(pair => "{" + pair.Key + " -> " + (toString is null ? pair.Value?.ToString() : toString(pair.Value)) + "}")) + "]";

    /// <summary>The time in its largest unit.</summary>
    public static string TimeSpanToString(TimeSpan timeSpan) => timeSpan.TotalSeconds switch
    {
        >= 86400 => string.Create(CultureInfo.InvariantCulture, $"{timeSpan.TotalDays:F3} days"),
        >= 3600 => string.Create(CultureInfo.InvariantCulture, $"{timeSpan.TotalHours:F3} hours"),
        >= 60 => string.Create(CultureInfo.InvariantCulture, $"{timeSpan.TotalMinutes:F3} minutes"),
        >= 1 => string.Create(CultureInfo.InvariantCulture, $"{timeSpan.TotalSeconds:F3} sec"),
        _ => string.Create(CultureInfo.InvariantCulture, $"{timeSpan.TotalMilliseconds:F3} ms"),
    };

    /// <summary>Ticks in milliseconds.</summary>
    public static long TicksToMilliSeconds(long ticks) => ticks / TimeSpan.TicksPerMillisecond;

    /// <summary>Ticks in milliseconds.</summary>
    public static float AverageTicksToMilliSeconds(float ticks) => ticks / TimeSpan.TicksPerMillisecond;

    /// <summary>The end point in <c>gwy.tcp://address:port/generation</c>; null if the address has no port.</summary>
    public static IPEndPoint? ToIPEndPoint(this Uri uri)
    {
        ArgumentNullException.ThrowIfNull(uri);
        return uri.Scheme == GatewayScheme && IPAddress.TryParse(uri.Host, out var address) ? new IPEndPoint(address, uri.Port) : null;
    }

    /// <summary>The silo in <c>gwy.tcp://address:port/generation</c>; null for another address.</summary>
    public static SiloAddress? ToGatewayAddress(this Uri uri) => uri.ToIPEndPoint() is { } endPoint
        ? SiloAddress.New(endPoint,
            uri.Segments.Length > 1 && int.TryParse(uri.Segments[1], CultureInfo.InvariantCulture, out var generation) ? generation : 0)
        : null;

    /// <summary>The silo's gateway as <c>gwy.tcp://address:port/generation</c>.</summary>
    public static Uri ToGatewayUri(this SiloAddress address)
    {
        ArgumentNullException.ThrowIfNull(address);
        return new Uri(string.Create(CultureInfo.InvariantCulture, $"{GatewayScheme}://{address.Endpoint}/{address.Generation}"));
    }

    /// <summary>The gateway as <c>gwy.tcp://address:port/0</c>.</summary>
    public static Uri ToGatewayUri(this IPEndPoint ep) => new(string.Create(CultureInfo.InvariantCulture, $"{GatewayScheme}://{ep}/0"));

    /// <summary>Runs the action; its exception is dropped.</summary>
    public static void SafeExecute(Action action) => SafeExecute(action, logger: null);

    /// <summary>Runs the action; its exception is logged.</summary>
    public static void SafeExecute(Action action, ILogger? logger = null, string? caller = null)
    {
        ArgumentNullException.ThrowIfNull(action);
        try
        {
            action();
        }
        catch (Exception exception)
        {
            if (logger is not null)
                LifecycleLog.ActionFailed(logger, caller, exception);
        }
    }

    /// <summary>Waits for the task; its exception is dropped.</summary>
    public static async Task SafeExecuteAsync(Task task) =>
        await task.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing | ConfigureAwaitOptions.ContinueOnCapturedContext);

    /// <summary>The stack of the caller.</summary>
    public static string GetStackTrace(int skipFrames = 0) => new System.Diagnostics.StackTrace(skipFrames + 1, true).ToString();

    /// <summary>The items in lists of this length; the last one may be shorter.</summary>
    public static IEnumerable<List<T>> BatchIEnumerable<T>(this IEnumerable<T> sequence, int batchSize) =>
        sequence.Chunk(batchSize).Select(static chunk => chunk.ToList());

    private const string GatewayScheme = "gwy.tcp";
}

/// <summary>Times and exceptions as text for logs. Any thread.</summary>
public static class LogFormatter
{
    /// <summary>The longest message that loggers of Orleans write.</summary>
    public const int MAX_LOG_MESSAGE_SIZE = 20000;

    private const string DateFormat = "yyyy-MM-dd HH:mm:ss.fff 'GMT'";
    private const string TimeFormat = "HH:mm:ss.fff 'GMT'";

    private static readonly ConcurrentDictionary<Type, Func<Exception, string>> Decoders = new();

    /// <summary>The date and the time.</summary>
    public static string PrintDate(DateTime date) => date.ToString(DateFormat, CultureInfo.InvariantCulture);

    /// <summary>The time of the day.</summary>
    public static string PrintTime(DateTime date) => date.ToString(TimeFormat, CultureInfo.InvariantCulture);

    /// <summary>Reads what <see cref="PrintDate"/> has written.</summary>
    /// <exception cref="FormatException">The text is something else.</exception>
    public static DateTime ParseDate(string dateStr) => DateTime.ParseExact(dateStr, DateFormat, CultureInfo.InvariantCulture);

    /// <summary>Decides how <see cref="PrintException"/> writes exceptions of exactly this type.</summary>
    public static void SetExceptionDecoder(Type exceptionType, Func<Exception, string> decoder)
    {
        ArgumentNullException.ThrowIfNull(exceptionType);
        ArgumentNullException.ThrowIfNull(decoder);
        Decoders[exceptionType] = decoder;
    }

    /// <summary>The exception with its stack and its causes; empty for null.</summary>
    public static string PrintException(Exception? exception)
    {
        if (exception is null)
            return "";
        var text = new StringBuilder();
        Print(text, exception, 0);
        return text.ToString();
    }

    private static void Print(StringBuilder text, Exception exception, int depth)
    {
        var what = Decoders.TryGetValue(exception.GetType(), out var decoder) ? decoder(exception)
            : exception.GetType() + ": " + exception.Message;
        text.Append(Environment.NewLine).Append(CultureInfo.InvariantCulture, $"Exc level {depth}: {what}");
        if (exception.StackTrace is { } stack)
            text.Append(Environment.NewLine).Append(stack);
        if (exception is AggregateException many)
        {
            foreach (var inner in many.InnerExceptions)
                Print(text, inner, depth + 1);
        }
        else if (exception.InnerException is { } inner)
        {
            Print(text, inner, depth + 1);
        }
    }
}

/// <summary>Keys of the time providers that an application may register for a part of the runtime.</summary>
/// <remarks>
/// <see cref="Grains"/> is the clock of grains and <see cref="SystemTimers"/> that of everything else, except for reminders. The other
/// parts have no clock of their own.
/// </remarks>
public static class TimeProviderNames
{
    /// <summary>Starts and ends of activations.</summary>
    public const string ActivationManagement = "Orleans.ActivationManagement";

    /// <summary>The grain directory.</summary>
    public const string GrainDirectory = "Orleans.GrainDirectory";

    /// <summary>Timers and clocks of grains.</summary>
    public const string Grains = "Orleans.Grains";

    /// <summary>The membership.</summary>
    public const string Membership = "Orleans.Membership";

    /// <summary>Calls and connections.</summary>
    public const string Messaging = "Orleans.Messaging";

    /// <summary>Timers of the runtime.</summary>
    public const string SystemTimers = "Orleans.SystemTimers";
}

/// <summary>Lets a participant of any lifecycle take part in a certain one.</summary>
public static class LifecycleParticipantExtensions
{
    /// <summary>The participant, as one of lifecycles of this type.</summary>
    public static ILifecycleParticipant<TLifecycle> ParticipateIn<TLifecycle>(this ILifecycleParticipant<ILifecycleObservable> participant)
        where TLifecycle : ILifecycleObservable => new Bridge<TLifecycle>(participant);

    private sealed class Bridge<TLifecycle>(ILifecycleParticipant<ILifecycleObservable> participant) : ILifecycleParticipant<TLifecycle>
        where TLifecycle : ILifecycleObservable
    {
        public void Participate(TLifecycle lifecycle) => participant.Participate(lifecycle);
    }
}
