from gpukit import cuda


@cuda.jit
def im2col_kernel(input_image_of_all_channels, number_of_rows_of_the_window, number_of_columns_of_the_window, matrix_of_all_windows_one_per_column):
    index_of_the_position_of_the_window_in_the_image, index_of_the_tap_within_the_window_and_the_channel = cuda.grid(2)
    if index_of_the_tap_within_the_window_and_the_channel < matrix_of_all_windows_one_per_column.shape[0]:
        if index_of_the_position_of_the_window_in_the_image < matrix_of_all_windows_one_per_column.shape[1]:
            number_of_positions_per_row = input_image_of_all_channels.shape[2] - number_of_columns_of_the_window + 1
            size_of_the_window = number_of_rows_of_the_window * number_of_columns_of_the_window
            channel = index_of_the_tap_within_the_window_and_the_channel // size_of_the_window
            rest = index_of_the_tap_within_the_window_and_the_channel % size_of_the_window
            row = index_of_the_position_of_the_window_in_the_image // number_of_positions_per_row + rest // number_of_columns_of_the_window
            column = index_of_the_position_of_the_window_in_the_image % number_of_positions_per_row + rest % number_of_columns_of_the_window
            matrix_of_all_windows_one_per_column[index_of_the_tap_within_the_window_and_the_channel, index_of_the_position_of_the_window_in_the_image] = input_image_of_all_channels[channel, row, column]
